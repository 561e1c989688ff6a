// A board alone: for a second screen at the table, while the talking goes on elsewhere.

import { get } from "../api.js";
import * as live from "../live.js";
import { BoardOf } from "../parts/board.js";
import { Empty } from "../parts/empty.js";
import { Problem } from "../parts/problem.js";
import { href, route } from "../router.js";
import { html, useEffect, useState } from "../ui.js";

const NONE = { character: null, error: null, loaded: false };

export default function BoardAlone() {
  const conversation = route.value.path[0] ?? null;
  const { character, error, loaded } = useCharacterOf(conversation);
  useEffect(() => {
    live.watch(conversation);
    return () => live.watch(null);
  }, [conversation]);
  if (error) return html`<div class="full"><${Problem} error=${error} /></div>`;
  if (!loaded) return null;
  if (!character?.view) return html`<div class="full"><h1>Board</h1><${NoBoard} /></div>`;
  return html`<div class="board-alone"><h1 class="hidden-label">Board of ${character.name}</h1><${BoardOf} character=${character} conversation=${conversation} /></div>`;
}

function NoBoard() {
  return html`
    <${Empty} title="No board here">
      <p>A board belongs to a conversation with a character that has a <code>VIEW</code>. <a href=${href(["talk"])}>Talk</a> to one, and open its board from there.</p>
    <//>
  `;
}

/** The character of a conversation, as Callboard describes it. */
function useCharacterOf(conversation) {
  const [found, setFound] = useState(NONE);
  useEffect(() => {
    read(conversation).then((character) => setFound({ character, error: null, loaded: true }), (error) => setFound({ ...NONE, error }));
  }, [conversation]);
  return found;
}

async function read(conversation) {
  if (!conversation) return null;
  const { character } = await get(`v1/conversations/${encodeURIComponent(conversation)}/state`);
  return character && get(`v1/characters/${encodeURIComponent(character)}`);
}
