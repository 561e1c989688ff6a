// The views, in the order of the navigation. Each is loaded when it is first shown, and exports its component as default.

export const VIEWS = [
  { name: "talk", title: "Talk", load: () => import("./views/talk.js") },
  { name: "calls", title: "Calls", load: () => import("./views/calls.js") },
  { name: "characters", title: "Characters", load: () => import("./views/characters.js") },
  { name: "servers", title: "Servers", load: () => import("./views/servers.js") },
  // Opened from a conversation.
  { name: "board", title: "Board", load: () => import("./views/board.js"), inNavigation: false },
];
