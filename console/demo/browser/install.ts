/** Puts the demo's API in the place of the network, for the console in this page. */
import { answer } from "../api/demoApi.ts";
import { browserClock, makeWorld } from "../world/makeWorld.ts";
import { type Behaviour, isBehaviour, misbehave } from "./behaviour.ts";
import { makeEventSource } from "./events.ts";
import { keepLinksInside } from "./links.ts";

/** In the storage of the tab while signing out loads the page again. After any other load, somebody is signed in. */
const signedOut = "sitewright-demo-signed-out";

const isSignOut = ({ method, url }: Request): boolean => method === "DELETE" && new URL(url).pathname === "/v2/session";

/**
 * From now on, requests for the API and streams of events are answered by the demo. `behaviour` can be changed with
 * `sitewrightDemo.behave("429")` in the browser's console, for those who want to see errors.
 */
export function installDemo(behaviour: Behaviour): void {
  const state = { behaviour };
  const world = makeWorld(browserClock);
  if (sessionStorage.getItem(signedOut) !== null) world.sessionId = null;
  sessionStorage.removeItem(signedOut);
  const realFetch = window.fetch;

  async function respond(request: Request): Promise<Response> {
    const response = misbehave(world, state.behaviour, request) ?? (await answer(world, request));
    if (state.behaviour === "expired" && world.sessionId === null) state.behaviour = "normal";
    if (isSignOut(request) && response.ok) return startAgainSignedOut();
    return response;
  }

  window.fetch = async (input, init) => {
    const request = new Request(input, init);
    return new URL(request.url).pathname.startsWith("/v2/") ? respond(request) : realFetch(request);
  };
  Reflect.set(
    window,
    "EventSource",
    makeEventSource(world, () => state.behaviour === "offline"),
  );
  keepLinksInside(respond);
  Reflect.set(window, "sitewrightDemo", {
    behave: (name: unknown) => {
      if (!isBehaviour(name)) throw new Error("Choose one of: normal, expired, 429, 500, offline");
      state.behaviour = name;
    },
  });
}

/** Like the real console, which leaves the page so that nothing of it is left. Never resolves. */
function startAgainSignedOut(): Promise<never> {
  sessionStorage.setItem(signedOut, "yes");
  window.location.hash = "#/sign-in";
  window.location.reload();
  return new Promise(() => undefined);
}
