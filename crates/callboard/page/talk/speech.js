// Speech by the browser, where it has some: what is heard becomes text, and replies are read aloud if a person wants that.

import { signal } from "../ui.js";

const Recognition = globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition;
const STORED = "callboard-speaks";

export const canListen = Boolean(Recognition);
export const canSpeak = Boolean(globalThis.speechSynthesis);
export const speaks = signal(localStorage.getItem(STORED) === "yes");

/** Listens for one utterance; returns what stops it. */
export function listen(heard, ended) {
  const recognition = new Recognition();
  recognition.lang = navigator.language;
  recognition.onresult = ({ results }) => heard(results[0][0].transcript);
  recognition.onend = ended;
  recognition.onerror = ended;
  recognition.start();
  return () => recognition.stop();
}

export function toggleSpeech() {
  speaks.value = !speaks.value;
  localStorage.setItem(STORED, speaks.value ? "yes" : "no");
  if (!speaks.value) speechSynthesis.cancel();
}

export function speak(text) {
  if (canSpeak && speaks.value && text) speechSynthesis.speak(new SpeechSynthesisUtterance(text));
}
