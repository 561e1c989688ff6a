// Light or dark: as the system says, until a person chooses. The colours themselves are in look.css.

import { effect, signal } from "./ui.js";

const STORED = "callboard-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const chosen = signal(localStorage.getItem(STORED));
const systemIsDark = signal(system.matches);
system.addEventListener("change", () => (systemIsDark.value = system.matches));

export function isDark() {
  return chosen.value ? chosen.value === "dark" : systemIsDark.value;
}

export function toggleTheme() {
  chosen.value = isDark() ? "light" : "dark";
  localStorage.setItem(STORED, chosen.value);
}

effect(() => {
  if (chosen.value) document.documentElement.dataset.theme = chosen.value;
});
