// Talk: a conversation with a character or a model, its calls in place, and the character's board beside it.

import * as live from "../live.js";
import { BoardOf } from "../parts/board.js";
import { Problem } from "../parts/problem.js";
import { href, navigate, route } from "../router.js";
import { catalog, catalogError, characterOf, firstChoice, readCatalog } from "../talk/catalog.js";
import { characterDetail } from "../talk/character-detail.js";
import { Composer } from "../talk/composer.js";
import { HistoryPanel, JournalPanel, PromptPanel } from "../talk/panels.js";
import { speak } from "../talk/speech.js";
import { Thread } from "../talk/thread.js";
import { Turn } from "../talk/turn.js";
import { computed, effect, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../ui.js";

export default function Talk() {
  const thread = useThread();
  const { detail, deadlines } = useCharacter(thread);
  if (!thread) return catalogError.value && html`<div class="full"><${Problem} error=${catalogError.value} retry=${readCatalog} /></div>`;
  const hasBoard = Boolean(detail.value?.view);
  return html`
    <div class=${hasBoard ? "talk with-board" : "talk"}>
      <section class="thread" aria-label="Conversation">
        <${Header} thread=${thread} hasBoard=${hasBoard} />
        <${Turns} thread=${thread} deadlines=${deadlines} />
        <${Foot} thread=${thread} />
      </section>
      ${hasBoard && html`<${BoardOf} character=${detail.value} conversation=${thread.id.value} />`}
    </div>
  `;
}

const NOBODY = { characters: [], models: [] };

/** The thread that the address names; a new one where it names none. A reply in progress goes on without its view. */
function useThread() {
  const [thread, setThread] = useState(null);
  const { path, query } = route.value;
  const wanted = path[0] ?? null;
  const first = catalog.value && firstChoice(catalog.value);
  const model = query.with ?? (wanted ? null : first);
  useEffect(() => {
    if (!wanted && !model) return;
    if (thread && wanted && thread.id.peek() === wanted) return;
    const next = new Thread({ id: wanted, model });
    if (wanted) next.load(() => firstChoice(catalog.peek() ?? NOBODY)).then(() => sayPending(next));
    setThread(next);
  }, [wanted, wanted ? "" : model]);
  useEffect(() => thread && effect(() => followChanges(thread)), [thread]);
  useEffect(() => () => live.watch(null), []);
  return thread;
}

function followChanges(thread) {
  live.watch(thread.id.value);
  const { id, version } = live.conversation.value;
  if (!id || id !== thread.id.value) return;
  if (version === null) thread.error.value = new Error("This conversation was deleted.");
  else thread.refresh();
}

function useCharacter(thread) {
  return useMemo(() => {
    const detail = computed(() => thread && characterDetail(thread.model.value));
    const deadlines = computed(() => new Map((detail.value?.tools ?? []).map((tool) => [tool.name, tool.timeout_ms])));
    return { detail, deadlines };
  }, [thread]);
}

function Header({ thread, hasBoard }) {
  const [panel, setPanel] = useState(null);
  const character = characterOf(thread.model.value);
  const close = () => setPanel(null);
  return html`
    <header>
      <div class="who">
        <h1>${character?.name ?? thread.model.value ?? "Talk"}</h1>
        <${Choice} thread=${thread} />
      </div>
      <div class="row">
        ${character && html`<button type="button" class="quiet" onClick=${() => setPanel("prompt")}>Prompt</button>`}
        ${character && !hasBoard && thread.id.value && html`<button type="button" class="quiet" onClick=${() => setPanel("journal")}>Journal</button>`}
        <button type="button" class="quiet" onClick=${() => setPanel("history")}>History</button>
        <button type="button" onClick=${() => navigate(["talk"], { with: thread.model.peek() })}>New conversation</button>
      </div>
      ${character?.about && html`<p class="about muted small">${character.about}</p>`}
    </header>
    ${panel === "prompt" && html`<${PromptPanel} character=${thread.model.value} conversation=${thread.id.value} close=${close} />`}
    ${panel === "journal" && html`<${JournalPanel} conversation=${thread.id.value} close=${close} />`}
    ${panel === "history" && html`<${HistoryPanel} close=${close} />`}
  `;
}

/** Another character or model begins another conversation. */
function Choice({ thread }) {
  if (!catalog.value) return null;
  const { characters, models } = catalog.value;
  const option = (value, text) => html`<option value=${value} selected=${value === thread.model.value}>${text}</option>`;
  return html`
    <label class="choice"><span class="hidden-label">Talk to</span>
      <select onChange=${(event) => navigate(["talk"], { with: event.currentTarget.value })}>
        ${characters.length > 0 && html`<optgroup label="Characters">${characters.map(({ id, name }) => option(id, name))}</optgroup>`}
        ${models.length > 0 && html`<optgroup label="Models">${models.map((id) => option(id, id))}</optgroup>`}
      </select>
    </label>
  `;
}

function Turns({ thread, deadlines }) {
  const turns = thread.turns.value;
  useStickToEnd(thread);
  const actions = { busy: thread.busy, fork: (turn, text) => fork(thread, turn, text), again: (turn) => again(thread, turn) };
  return html`
    <div class="turns">
      ${thread.error.value && html`<${Problem} error=${thread.error.value} retry=${() => thread.load()} />`}
      ${turns.length === 0 && thread.loaded.value && !thread.error.value && html`<${Welcome} thread=${thread} />`}
      ${turns.map((turn) => html`<${Turn} key=${turn.key} turn=${turn} actions=${actions} deadlines=${deadlines} />`)}
    </div>
  `;
}

/** Keeps the end in sight while it grows, unless a person has scrolled up. */
function useStickToEnd(thread) {
  const atEnd = useRef(true);
  useEffect(() => {
    const page = document.scrollingElement;
    let last = 0;
    const look = () => {
      // What has grown since is no reason to stay: only a person scrolls up.
      if (page.scrollTop + innerHeight >= page.scrollHeight - 80) atEnd.current = true;
      else if (page.scrollTop < last) atEnd.current = false;
      last = page.scrollTop;
    };
    const follow = () => atEnd.current && page.scrollTo({ top: page.scrollHeight, behavior: "instant" });
    const grown = new ResizeObserver(follow);
    grown.observe(document.querySelector(".turns"));
    addEventListener("scroll", look, { passive: true });
    return () => {
      grown.disconnect();
      removeEventListener("scroll", look);
    };
  }, [thread]);
  useLayoutEffect(() => {
    // What a person has just sent is at the end.
    if (thread.busy.peek()) atEnd.current = true;
  }, [thread.turns.value.length]);
}

function Welcome({ thread }) {
  const character = characterOf(thread.model.value);
  return html`
    <div class="welcome">
      <p>Callboard stands between applications and language models, and makes their tool calls dependable: what a model calls is checked, repaired where nothing is guessed, and run. Say something, and watch.</p>
      <p class="muted">${aboutTools(character)}</p>
      ${character?.examples.map((example) => html`<button type="button" class="example" onClick=${() => send(thread, example)}>${example}</button>`)}
    </div>
  `;
}

function aboutTools(character) {
  if (!character) return "This is a plain model: its clients bring their own tools. Characters have some.";
  const { name, tools } = character;
  if (tools === 0) return `${name} has no tools: it only talks.`;
  return `${name} has ${tools} ${tools === 1 ? "tool" : "tools"}. Each call appears in place: what the model wrote, what became of it, and how long it took.`;
}

async function send(thread, text) {
  const isNew = !thread.id.peek();
  const reply = thread.say(text);
  if (isNew) showAddress(thread);
  speak(await reply);
}

function Foot({ thread }) {
  const name = characterOf(thread.model.value)?.name ?? thread.model.value;
  return html`<${Composer} thread=${thread} busy=${thread.busy.value !== null} placeholder=${`Message ${name}`} disabled=${!thread.loaded.value || !thread.model.value} send=${(text) => send(thread, text)} stop=${() => thread.stop()} />`;
}

/** Once the conversation has an id, the address has it too. */
function showAddress(thread) {
  const unsubscribe = thread.id.subscribe((id) => {
    if (!id) return;
    queueMicrotask(() => unsubscribe());
    history.replaceState(null, "", href(["talk", id], { with: thread.model.peek() }));
    dispatchEvent(new HashChangeEvent("hashchange"));
  });
}

async function fork(thread, turn, text) {
  try {
    const id = await thread.forkBefore(turn);
    const next = href(["talk", id], { with: thread.model.peek() });
    pendingMessages.set(id, text);
    location.hash = next;
  } catch (error) {
    thread.error.value = error;
  }
}

function again(thread, turn) {
  if (turn.id.peek() !== null) return fork(thread, turn, turn.text);
  thread.drop(turn);
  return thread.say(turn.text);
}

/** What is to be said in a fork once it is loaded. */
const pendingMessages = new Map();

function sayPending(thread) {
  const text = pendingMessages.get(thread.id.peek());
  pendingMessages.delete(thread.id.peek());
  if (text) thread.say(text);
}
