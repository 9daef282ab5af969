/** A visitor of a test's site: keeps cookies and can log in. Also runs PHP scripts from the site's web root. */
import { chown, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { exampleRequest, type WordPressSpec } from "../conformance/conformance.ts";
import { ownerOf } from "../owner.ts";
import { NoAnswer, type PhpRequest, type Serving } from "../serving.ts";
import { requestBody } from "./requestBody.ts";

export type Site = WordPressSpec & { readonly documentRoot: string };

interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface Visitor {
  get(url: string, changes?: Partial<PhpRequest>): Promise<Page>;
  post(url: string, fields: Readonly<Record<string, string>>): Promise<Page>;
  /** Sends the login form. Returns whether the dashboard opens. */
  logIn(user: string, password: string): Promise<boolean>;
}

/** Returns the script that a web server would run for this URL. */
function scriptFor(url: string): string {
  const { pathname } = new URL(url, "http://x");
  if (pathname.endsWith(".php")) return pathname;
  return pathname.startsWith("/wp-admin/") ? `${pathname}index.php` : "/index.php";
}

export function visitorOf(serving: Serving, site: Site): Visitor {
  const cookies = new Map<string, string>();

  async function send(url: string, changes: Partial<PhpRequest>): Promise<Page> {
    const request = exampleRequest(site.wordpress.address, { url, script: scriptFor(url), ...changes });
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const { host } = new URL(site.wordpress.address);
    const headers = { host, ...(cookie === "" ? {} : { cookie }), ...changes.headers };
    const answer = await serving.handle(site.environment.id, { ...request, headers });
    for (const [name, value] of answer.headers) {
      const [, key, content] = /^([^=]+)=([^;]*)/.exec(value) ?? [];
      if (name === "set-cookie" && key !== undefined && content !== undefined) cookies.set(key, content);
    }
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await text(answer.body) };
  }

  async function post(url: string, fields: Readonly<Record<string, string>>): Promise<Page> {
    const body = new URLSearchParams(fields).toString();
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "content-length": String(Buffer.byteLength(body)),
    };
    return send(url, { method: "POST", headers, body: requestBody(Buffer.from(body)) });
  }

  return {
    get: (url, changes = {}) => send(url, changes),
    post,
    logIn: async (user, password) => {
      await send("/wp-login.php", {});
      const answer = await post("/wp-login.php", { log: user, pwd: password, testcookie: "1", "wp-submit": "Log In" });
      if (answer.status !== 302) return false;
      const dashboard = await send("/wp-admin/", {});
      return dashboard.status === 200 && dashboard.text.includes("wpadminbar");
    },
  };
}

/** Writes a script into the site's web root, as the site's owner would. */
export async function addScript(site: Site, name: string, code: string): Promise<void> {
  const file = path.join(site.documentRoot, name);
  await writeFile(file, `<?php ${code}`);
  const owner = ownerOf(site.environment.number);
  if (process.getuid?.() === 0) await chown(file, owner, owner);
}

let scripts = 0;

/** Runs PHP code in a worker of the site. Returns its output. */
export async function runPhp(serving: Serving, site: Site, code: string): Promise<string> {
  scripts += 1;
  const name = `script-${scripts}.php`;
  await addScript(site, name, code);
  return (await visitorOf(serving, site).get(`/${name}`)).text;
}

/** Returns the response's status, or the reason if there was no response. */
export async function outcomeOf(answer: Promise<{ readonly status: number }>): Promise<string | number> {
  return answer.then(
    (page) => page.status,
    (error: unknown) => {
      if (error instanceof NoAnswer) return error.reason;
      throw error;
    },
  );
}
