// A recorded request as a command for a terminal.

const PATHS = { chat: "/v1/chat/completions", responses: "/v1/responses", compact: "/v1/responses/compact" };
/** What the transport over a WebSocket adds to a request. */
const TRANSPORT = ["type", "stream_id", "client_metadata"];

/** Whether a trace holds a request that can be sent again. */
export function isRepeatable({ endpoint, input }) {
  return endpoint in PATHS && input.request !== undefined;
}

/** The command that sends the request of a trace again; with a key, the shell's `CALLBOARD_KEY` is it. */
export function curlOf({ endpoint, input }, origin, hasKey = false) {
  const body = Object.fromEntries(Object.entries(input.request).filter(([name]) => !TRANSPORT.includes(name)));
  const lines = [`curl -N ${origin}${PATHS[endpoint]}`, "-H 'content-type: application/json'"];
  if (hasKey) lines.push('-H "authorization: Bearer $CALLBOARD_KEY"');
  if (input.named_conversation) lines.push(`-H ${quoted(`callboard-conversation: ${input.named_conversation}`)}`);
  lines.push(`-d ${quoted(JSON.stringify(body))}`);
  return lines.join(" \\\n  ");
}

/** A word of a POSIX shell: nothing in it means anything. */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
