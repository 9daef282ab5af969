/**
 * The pages that are usually requested first from a new site. They are requested once from a template after its
 * installation: on its first page WordPress reads every pattern of the theme and writes thirty options, which every
 * copy then has. They are also requested from a spare worker before it gets a site, so that their code is in the opcode
 * cache.
 */
import type { PHP } from "@php-wasm/universal";
import { siteFolder } from "../../phpFolders.ts";
import { serverVariables } from "../../pool/requestVariables.ts";
import { placeholders } from "../../site/values/placeholders.ts";

const pages = [
  { url: "/", script: "/index.php" },
  { url: "/wp-login.php", script: "/wp-login.php" },
];

/**
 * Requests the first pages of the mounted template. Stops when `isWanted` returns false before a page. Rejects if a
 * page is incomplete.
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
