/** `mirror <folder>`: a package source of what lies in a folder, until it is ended. */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { describeMirror, makeMirror } from "../packages/mirror.ts";
import type { Run } from "./command.ts";
import { Failure, failed, notUnderstood } from "./failure.ts";

const usual = "127.0.0.1:8090";

export const runMirror: Run = ({ words: [folder = ""], flags }) =>
  mirror(folder, typeof flags.listen === "string" ? flags.listen : null, (line) => process.stdout.write(`${line}\n`));

/** `listen`: address and port; null: the usual ones. Resolves when it was told to end. */
export async function mirror(folder: string, listen: string | null, say: (line: string) => void): Promise<string> {
  const place = /^([0-9A-Za-z.-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/.exec(listen ?? usual);
  if (place === null) {
    throw new Failure(`--listen ${listen} is not an address and a port, such as ${usual}.`, notUnderstood);
  }
  const facts = await stat(folder).catch(() => null);
  if (!facts?.isDirectory()) throw new Failure(`${folder} is no folder. Put zips into one, and name that.`, failed);
  const [, host = "", port = ""] = place;
  const server = makeMirror(folder);
  server.listen(Number(port), host.replace(/^\[|\]$/g, ""));
  try {
    await once(server, "listening");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(`The mirror can't listen there: ${why}. Name another place with --listen.`, failed, { cause });
  }
  const address = server.address();
  const listening = typeof address === "object" && address !== null ? `${host}:${address.port}` : usual;
  say(await describeMirror(folder));
  say(`Served at http://${listening}: start Sitewright with SITEWRIGHT_WPORG_URL=http://${listening}`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  server.closeAllConnections();
  server.close();
  return "The mirror has ended.";
}
