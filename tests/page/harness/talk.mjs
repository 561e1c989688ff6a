// What tests do in Talk: say something, look at calls, fill a conversation.

import { eventually } from "./browser.mjs";

/** Sends a message and waits until the turn has ended. */
export async function say(page, text) {
  const turns = await page.getByRole("article").count();
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
  await page.getByRole("article").nth(turns).waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
}

/** The line of the last call of a tool. */
export function call(page, name) {
  return page.locator("details.call", { has: page.locator("code.name", { hasText: name }) }).last();
}

/** The id of the conversation in the address, once it is there. */
export async function conversationOf(page) {
  const found = await eventually(() => /#\/talk\/(conv_\w+)/.exec(page.url()), "the conversation's address");
  return found[1];
}

/** A conversation of so many messages, half of them the user's. */
export async function longConversation(callboard, messages) {
  const id = await callboard.conversation();
  for (let first = 0; first < messages; first += 20) {
    const items = Array.from({ length: Math.min(20, messages - first) }, (_, index) => message(first + index));
    await callboard.request(`/v1/conversations/${id}/items`, { body: { items } });
  }
  return id;
}

function message(number) {
  const [role, type] = number % 2 ? ["assistant", "output_text"] : ["user", "input_text"];
  const text = `Message ${number}. ${"It was a long evening at the table, and much was said. ".repeat(4)}`;
  return { type: "message", role, content: [{ type, text }] };
}
