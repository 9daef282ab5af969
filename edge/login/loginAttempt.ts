/**
 * Recognises logins. Those at the usual addresses take a turn, or are refused here. Other forms, such as a shop's, can't be
 * told from other requests, so the platform's PHP refuses a login in them. It also reports the outcome of every login.
 */
import { loginHeader, loginUserHeader } from "../http/headers.ts";
import { networkOf } from "../http/network.ts";
import { makePage } from "../http/pages.ts";
import { refuseBody } from "../http/uploads.ts";
import type { VisitorRequest } from "../http/visitorHttp.ts";
import { isRestRequest } from "../php/mayWrite.ts";
import type { Script } from "../php/script.ts";
import type { Visit, VisitLogin } from "../visit/visit.ts";
import type { LoginBrake, LoginRefusal, LoginTarget } from "./loginBrake.ts";
import { type LoginEvents, readUserName } from "./loginEvents.ts";

const readMethods = new Set(["GET", "HEAD", "OPTIONS"]);
const loginScripts = ["/wp-login.php", "/xmlrpc.php"];

interface LoginParts {
  readonly loginBrake: LoginBrake;
  readonly loginEvents: LoginEvents;
}

/** Whether the request is a login that must be refused, before its body is received. */
export function isRefusedLogin(visit: Visit, script: Script, brake: LoginBrake): boolean {
  return isLogin(visit, script) && brake.refusalOf(targetOf(visit)) !== null;
}

/** Calls `run` when it is the request's turn, if it may be a login, or at once. Or sends a refusal. */
export async function inLoginTurn(
  visit: Visit,
  script: Script,
  parts: LoginParts,
  run: (visit: Visit) => Promise<void>,
): Promise<void> {
  const { response } = visit;
  const target = targetOf(visit);
  if (!isLogin(visit, script)) return run(withOtherLogin(visit, target, parts));
  const left = new AbortController();
  const leave = () => left.abort();
  response.once("close", leave);
  const turn = await parts.loginBrake.enter(target, left.signal);
  response.off("close", leave);
  if (turn.kind === "refused") return response.destroyed ? undefined : sendRefusal(visit, turn);
  try {
    await run({ ...visit, login: watch(visit, target, parts, { isRefused: false, leave: turn.leave }) });
  } finally {
    turn.leave();
  }
}

export async function refuseLogin(visit: Visit, brake: LoginBrake): Promise<void> {
  const refusal = brake.refusalOf(targetOf(visit));
  if (refusal !== null) await sendRefusal(visit, refusal);
}

function targetOf({ address, route }: Visit): LoginTarget {
  return { environmentId: route.environment.id, network: networkOf(address) };
}

/** Whether the request is at one of the usual addresses of logins, or has a password for the REST API. */
function isLogin({ request, path }: Visit, { script }: Script): boolean {
  if (hasPassword(request) && isRestRequest(path)) return true;
  return request.method === "POST" && loginScripts.some((end) => script.endsWith(end));
}

/** Plugins that protect a whole site use such passwords for pages, too. */
function hasPassword({ headers }: VisitorRequest): boolean {
  return /^basic\b/i.test(headers.authorization ?? "");
}

/** A form of a plugin may be a login, and the REST API may have another address. */
function withOtherLogin(visit: Visit, target: LoginTarget, parts: LoginParts): Visit {
  if (readMethods.has(visit.request.method ?? "") && !hasPassword(visit.request)) return visit;
  const isRefused = parts.loginBrake.refusalOf(target) !== null;
  return { ...visit, login: watch(visit, target, parts, { isRefused, leave: () => undefined }) };
}

/** Records the outcome when PHP answers. */
function watch(
  { address }: Visit,
  target: LoginTarget,
  { loginBrake, loginEvents }: LoginParts,
  { isRefused, leave }: { readonly isRefused: boolean; readonly leave: () => void },
): VisitLogin {
  return {
    isRefused,
    onAnswer(headers) {
      const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
      const outcome = headerOf(loginHeader);
      if (outcome === "failed" || outcome === "succeeded") {
        loginBrake.note(target, outcome);
        const { environmentId } = target;
        const user = readUserName(headerOf(loginUserHeader));
        // Programs with an application password log in with every request: PHP then sends no name.
        const isEvent = outcome === "failed" || user !== null;
        if (isEvent) loginEvents.note({ environmentId, address, outcome, byLink: false, user });
      }
      leave();
    },
  };
}

async function sendRefusal({ request, response }: Visit, { reason, seconds }: LoginRefusal): Promise<void> {
  const minutes = `${Math.ceil(seconds / 60)} ${seconds > 60 ? "minutes" : "minute"}`;
  const page = makePage(request, reason === "failures" ? "loginsRefused" : "loginsBusy", { minutes });
  await refuseBody(request, response, { ...page, headers: { ...page.headers, "retry-after": seconds } });
}
