/**
 * The pages that a new site is asked for first. A template is asked for them once after it was installed: on its
 * first page WordPress reads every pattern of the theme and writes thirty options, which every copy then has. A
 * spare worker is asked for them before it has a site: their code is in the opcode cache then.
 */
import type { PHP } from "@php-wasm/universal";
import { placeholders } from "../templates/placeholders.ts";
import { siteFolder } from "./folders.ts";
import { serverVariables } from "./site.ts";

const pages = [
  { url: "/", script: "/index.php" },
  { url: "/wp-login.php", script: "/wp-login.php" },
];

/**
 * Asks the template that is mounted for its first pages, for as long as `isWanted` says so before each of them.
 * Rejects if one of them does not come whole.
 */
export async function visitFirstPages(php: PHP, isWanted: () => boolean = () => true): Promise<void> {
  for (const page of pages) if (isWanted()) await visit(php, page);
}

async function visit(php: PHP, page: { readonly url: string; readonly script: string }): Promise<void> {
  const response = await php.runStream({
    scriptPath: `${siteFolder}${page.script}`,
    relativeUri: page.url,
    headers: { host: placeholders.host },
    $_SERVER: { ...serverVariables(page.script, ""), REMOTE_ADDR: "127.0.0.1", SERVER_PROTOCOL: "HTTP/1.1" },
  });
  const [status, text] = await Promise.all([response.httpStatusCode, response.stdoutText]);
  if (status !== 200 || !text.includes("</html>")) throw new Error(`The template's ${page.url} gave ${status}.`);
}
