// Who can be talked to: characters and models.

import { get } from "../api.js";
import { apiKey } from "../session.js";
import { effect, signal } from "../ui.js";

/** `{ characters: [{ id, name, about, tools }], models: [id] }`; null until it is read. */
export const catalog = signal(null);
export const catalogError = signal(null);

effect(() => {
  void apiKey.value;
  readCatalog();
});

export async function readCatalog() {
  try {
    const [characters, models] = await Promise.all([get("v1/characters"), get("v1/models")]);
    const own = characters.data.map(({ id, name, metadata, tools }) => ({ id, name, about: metadata?.comment ?? "", examples: examplesOf(metadata), tools: tools.length }));
    const ids = new Set(own.map(({ id }) => id));
    catalog.value = { characters: own, models: models.data.map(({ id }) => id).filter((id) => !ids.has(id)) };
    catalogError.value = null;
  } catch (error) {
    catalogError.value = error;
  }
}

/** Sentences to begin with, where a character has some. */
function examplesOf(metadata) {
  const examples = Array.isArray(metadata?.examples) ? metadata.examples : [];
  return examples.filter((example) => typeof example === "string" && example.trim()).slice(0, 6);
}

export function characterOf(id) {
  return catalog.value?.characters.find((character) => character.id === id);
}

/** Who is suggested first: the narrator where it is loaded, which answers without a model server too. */
export function firstChoice({ characters, models }) {
  const narrator = characters.find(({ id }) => id === "narrator");
  return (narrator ?? characters[0])?.id ?? models[0] ?? null;
}
