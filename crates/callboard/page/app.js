// The frame around the views: navigation, theme, connection, and the question for an API key.

import * as live from "./live.js";
import { KeyPrompt } from "./parts/key-prompt.js";
import { Problem } from "./parts/problem.js";
import { href, route } from "./router.js";
import { apiKey, forgetKey, keyWanted } from "./session.js";
import { serverStatus } from "./status.js";
import { isDark, toggleTheme } from "./theme.js";
import { html, render, useEffect, useRef, useState } from "./ui.js";
import { VIEWS } from "./views.js";

function App() {
  const view = VIEWS.find(({ name }) => name === route.value.view) ?? VIEWS[0];
  useEffect(() => {
    document.title = `${view.title} · Callboard`;
  }, [view]);
  return html`
    <a class="skip" href="#main" onClick=${skipToMain}>Skip to the content</a>
    <div class="app">
      <${Navigation} current=${view} />
      <main id="main" tabindex="-1"><${LoadedView} key=${`${view.name} ${apiKey.value}`} view=${view} /></main>
    </div>
    ${keyWanted.value !== null && html`<${KeyPrompt} reason=${keyWanted.value} />`}
  `;
}

function skipToMain(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

function Navigation({ current }) {
  const link = ({ name, title }) =>
    html`<a href=${href([name])} aria-current=${name === current.name ? "page" : null}>${title}</a>`;
  return html`
    <nav aria-label="Views">
      <a class="brand" href=${href([])}><span class="mark" aria-hidden="true"></span>Callboard</a>
      <div class="links">${VIEWS.filter(({ inNavigation = true }) => inNavigation).map(link)}</div>
      <div class="foot">
        <${Status} />
        ${apiKey.value && html`<button type="button" class="quiet forget" onClick=${forgetKey}>Forget the key</button>`}
        <button type="button" class="quiet theme" onClick=${toggleTheme}>${isDark() ? "Light" : "Dark"} theme</button>
      </div>
    </nav>
  `;
}

function Status() {
  const lost = live.connection.value === "lost";
  const { text, detail, ok } = serverStatus.value;
  const shown = lost ? "Not connected, trying again" : text;
  return html`
    <div class="status" role="status">
      <div><span class="dot" data-state=${lost ? "lost" : ok ? "ok" : "warn"} aria-hidden="true"></span>${shown}</div>
      ${!lost && detail && html`<div class="muted">${detail}</div>`}
    </div>
  `;
}

/** A view after its module has arrived. */
function LoadedView({ view }) {
  const [loaded, setLoaded] = useState({});
  const wanted = useRef(view);
  wanted.current = view;
  useEffect(() => {
    const arrived = (result) => wanted.current === view && setLoaded(result);
    view.load().then((module) => arrived({ view, Component: module.default }), (error) => arrived({ view, error }));
  }, [view]);
  if (loaded.view !== view) return null;
  if (loaded.error) return html`<div class="full"><${Problem} error=${loaded.error} /></div>`;
  return html`<${loaded.Component} />`;
}

live.start();
render(html`<${App} />`, document.getElementById("app"));
