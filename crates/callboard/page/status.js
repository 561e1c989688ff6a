// Which model server answers, in a line: what the foot of the navigation says.

import { get } from "./api.js";
import { connection } from "./live.js";
import { apiKey } from "./session.js";
import { effect, signal } from "./ui.js";

export const serverStatus = signal({ text: "", detail: "", ok: true });

effect(() => {
  void apiKey.value;
  if (connection.value === "open") refresh().catch(() => {});
});

async function refresh() {
  const { data } = await get("v1/upstreams");
  serverStatus.value = statusOf(data);
}

function statusOf(upstreams) {
  const servers = upstreams.filter((server) => !server.built_in);
  const well = servers.filter((server) => !server.set_aside);
  if (servers.length === 0) return { text: "Rehearsal model", detail: "no model server connected", ok: true };
  if (well.length === 0) return { text: `${hostOf(servers[0])} does not answer`, detail: "", ok: false };
  const others = well.length > 1 ? ` and ${well.length - 1} more` : "";
  return { text: `${hostOf(well[0])}${others}`, detail: modelsOf(well), ok: well.length === servers.length };
}

function hostOf({ url }) {
  return URL.canParse(url) ? new URL(url).host : url;
}

function modelsOf(servers) {
  const models = servers.flatMap((server) => server.models);
  return models.length > 2 ? `${models.length} models` : models.join(", ");
}
