// The views, in the order of the navigation. Each is loaded when it is first shown, and exports its component as default.

export const VIEWS = [{ name: "talk", title: "Talk", load: () => import("./views/talk.js") }];
