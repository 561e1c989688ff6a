// The API key, where Callboard asks for one. It is kept for this tab only, and leaves it in a header only.

import { signal } from "./ui.js";

const STORED = "callboard-key";

export const apiKey = signal(sessionStorage.getItem(STORED) ?? "");

/** Why a key is asked for; null while none is. */
export const keyWanted = signal(null);

export function keepKey(key) {
  sessionStorage.setItem(STORED, key);
  keyWanted.value = null;
  apiKey.value = key;
}

export function forgetKey() {
  sessionStorage.removeItem(STORED);
  apiKey.value = "";
}

/** Asks for a key after one was refused. A reply to an older key asks for nothing. */
export function refuseKey(refused) {
  if (refused !== apiKey.value) return;
  keyWanted.value = refused ? "This key is not accepted." : "This Callboard asks for an API key.";
}
