/**
 * Recognises logins. Those at the usual addresses take a turn, or are refused here. Other forms, such as a shop's, can't be
 * told from other requests, so the platform's PHP refuses a login in them. It also reports the outcome of every login.
 */

import { hasLoginCookie } from "../http/cookies.ts";
import { loginHeader, loginUserHeader } from "../http/headers.ts";
import { networkOf } from "../http/network.ts";
import { makePage } from "../http/pages.ts";
import { refuseBody } from "../http/uploads.ts";
import { isRestRequest } from "../php/mayWrite.ts";
import type { Script } from "../php/script.ts";
import type { Visit, VisitLogin } from "../visit/visit.ts";
import { readBasicUser } from "./basicUser.ts";
import type { LoginBrake, LoginRefusal, LoginTarget, LoginTry, LoginTurn } from "./loginBrake.ts";
import { type LoginEvents, readUserName } from "./loginEvents.ts";

const readMethods = new Set(["GET", "HEAD", "OPTIONS"]);
/** The random keys of WooCommerce's REST API, which WordPress does not take for passwords. */
const shopKey = /^ck_/;

interface LoginParts {
  readonly loginBrake: LoginBrake;
  readonly loginEvents: LoginEvents;
}

/** `other`: a login among other requests. `none`: can't be a login. */
type Kind = LoginTry["by"] | "other" | "none";

/** Not null if the request is a login that must be refused, before its body is received. */
export function loginRefusalOf(visit: Visit, script: Script, brake: LoginBrake): LoginRefusal | null {
  const kind = kindOf(visit, script);
  return kind === "form" || kind === "program" ? brake.refusalOf(targetOf(visit, kind)) : null;
}

/** Calls `run` when it is the request's turn, if it is a login, or at once. Or sends a refusal. */
export async function inLoginTurn(
  visit: Visit,
  script: Script,
  parts: LoginParts,
  run: (visit: Visit) => Promise<void>,
): Promise<void> {
  const kind = kindOf(visit, script);
  if (kind === "none") return run(visit);
  const target = targetOf(visit, kind);
  const { loginBrake } = parts;
  const turn = kind === "other" ? loginBrake.watch(target) : await enter(visit, { ...target, by: kind }, loginBrake);
  if (turn.kind === "refused") return visit.response.destroyed ? undefined : sendLoginRefusal(visit, turn);
  try {
    await run({ ...visit, login: loginOf(visit, turn, parts) });
  } finally {
    turn.leave();
  }
}

export async function sendLoginRefusal({ request, response }: Visit, { reason, seconds }: LoginRefusal): Promise<void> {
  const minutes = `${Math.ceil(seconds / 60)} ${seconds > 60 ? "minutes" : "minute"}`;
  const page = makePage(request, reason === "failures" ? "loginsRefused" : "loginsBusy", { minutes });
  await refuseBody(request, response, { ...page, headers: { ...page.headers, "retry-after": seconds } });
}

/** Plugins that protect a whole site use passwords for pages, too; and the REST API may have another address. */
function kindOf({ request: { method = "GET", headers }, path }: Visit, { script }: Script): Kind {
  if (method === "POST" && script.endsWith("/wp-login.php")) return "form";
  if (method === "POST" && script.endsWith("/xmlrpc.php")) return "program";
  const user = readBasicUser(headers.authorization);
  if (user === null) return readMethods.has(method) ? "none" : "other";
  // Anyone can send a login cookie, so it allows nothing: PHP refuses passwords instead of the edge.
  const isOther = !isRestRequest(path) || shopKey.test(user) || hasLoginCookie(headers.cookie);
  return isOther ? "other" : "program";
}

/** The name in a form arrives with its body, and only PHP reads that. */
function targetOf({ address, route, request }: Visit, kind: Kind): LoginTarget {
  const user = kind === "form" ? null : readBasicUser(request.headers.authorization);
  return { environmentId: route.environment.id, network: networkOf(address), user };
}

async function enter({ response }: Visit, attempt: LoginTry, brake: LoginBrake): Promise<LoginTurn | LoginRefusal> {
  const left = new AbortController();
  const leave = () => left.abort();
  response.once("close", leave);
  const turn = await brake.enter(attempt, left.signal);
  response.off("close", leave);
  return turn;
}

/** Records the outcome when PHP answers. */
function loginOf({ address, route }: Visit, turn: LoginTurn, { loginEvents }: LoginParts): VisitLogin {
  return {
    begin: turn.begin,
    onAnswer(headers) {
      const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
      const outcome = headerOf(loginHeader);
      if (outcome === "failed" || outcome === "succeeded") {
        const user = readUserName(headerOf(loginUserHeader));
        turn.note(outcome, user);
        // Programs with an application password log in with every request: PHP then sends no name.
        const isEvent = outcome === "failed" || user !== null;
        const environmentId = route.environment.id;
        if (isEvent) loginEvents.note({ environmentId, address, outcome, byLink: false, user });
      }
      turn.leave();
    },
  };
}
