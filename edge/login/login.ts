/**
 * Login links: `/sitewright-login?token=…` on any site. The page shows a button, and only pressing it uses the link up,
 * so that programs that preview links in mails and chats don't, and pages of other sites can't log anybody in.
 */
import { escapeText, layout, pageHeaders, sendPage } from "../http/pages.ts";
import { abortWrite, answerWrite, type PhpParts } from "../php/answerWithPhp.ts";
import type { Visit } from "../visit/visit.ts";
import type { LoginEvents } from "./loginEvents.ts";
import type { Logins } from "./logins.ts";

const loginSegment = "sitewright-login";

export function isLoginLink({ path }: Pick<Visit, "path">): boolean {
  return path.segments.length === 1 && path.segments[0] === loginSegment;
}

/** Keeps the token out of the Referer header. */
const noReferrer = { "referrer-policy": "no-referrer" };

export async function answerLogin(
  visit: Visit,
  parts: PhpParts & { readonly logins: Logins; readonly loginEvents: LoginEvents },
): Promise<void> {
  const { request, response, route, path } = visit;
  const { id } = route.environment;
  const token = new URLSearchParams(path.query).get("token") ?? "";
  const login = parts.logins.find(token, id);
  const isPressed = request.method === "POST" && request.headers["sec-fetch-site"] !== "cross-site";
  if (["GET", "HEAD", "POST"].includes(request.method ?? "") && !isPressed) {
    if (login === null) return sendPage(request, response, "loginOver", noReferrer);
    return sendButton(visit, login.login);
  }
  if (!isPressed) return sendPage(request, response, "methodNotAllowed", { allow: "GET, HEAD, POST" });
  const endWrite = parts.writes.begin(id, () => abortWrite(request, response));
  // The link stays valid for when the site is thawed.
  if (endWrite === null) return sendPage(request, response, "frozen", noReferrer);
  const used = parts.logins.use(token, id);
  if (used === null) {
    endWrite();
    return sendPage(request, response, "loginOver", noReferrer);
  }
  parts.coalescing.stopSharing(id);
  parts.log.info({ environment: id, user: used.userId }, "login link used");
  const { address } = visit;
  parts.loginEvents.note({ environmentId: id, address, outcome: "succeeded", byLink: true, user: used.login });
  // The request itself is not passed on to PHP: its referrer contains the token.
  request.resume();
  const input = JSON.stringify({ input: { user: used.userId, login: used.login } });
  await answerWrite(visit, { script: "/index.php", pathInfo: "", task: { name: "logIn", input } }, parts, endWrite);
}

/** The form posts to the URL of the page, token included. */
function sendButton({ response, host }: Visit, login: string): void {
  const body = layout(
    "Log in",
    `<h1>Log in to ${escapeText(host)}</h1>
<p>This link works once, and logs you in as <strong>${escapeText(login)}</strong>.</p>
<form method="post"><button type="submit">Log in</button></form>`,
  );
  response.writeHead(200, { ...pageHeaders("text/html; charset=utf-8", body), ...noReferrer }).end(body);
}
