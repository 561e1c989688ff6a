// What views and parts are built with: one import instead of five.

import { h } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { render } from "./vendor/preact.js";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
export { batch, computed, effect, signal, useComputed, useSignal, useSignalEffect } from "./vendor/signals.js";

export const html = htm.bind(h);

/** The names of those classes whose value is true: `classes({ call: true, open: isOpen })`. */
export function classes(chosen) {
  return Object.keys(chosen).filter((name) => chosen[name]).join(" ");
}
