/** `mirror <folder>`: serves the zips in a folder as a package source. */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { describeMirror, makeMirror } from "../packages/mirror.ts";
import type { Run } from "./command.ts";
import { exitFailed, Failure, usageError } from "./failure.ts";

const defaultAddress = "127.0.0.1:8090";

export const runMirror: Run = ({ words: [folder = ""], flags }) =>
  mirror(folder, typeof flags.listen === "string" ? flags.listen : null, (line) => process.stdout.write(`${line}\n`));

/** `listen` is an address and a port, or null for the default. Resolves at SIGINT or SIGTERM. */
async function mirror(folder: string, listen: string | null, print: (line: string) => void): Promise<string> {
  const parts = /^([0-9A-Za-z.-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/.exec(listen ?? defaultAddress);
  if (parts === null) {
    throw new Failure(`--listen ${listen} is not an address and a port, such as ${defaultAddress}.`, usageError);
  }
  const facts = await stat(folder).catch(() => null);
  if (!facts?.isDirectory())
    throw new Failure(`${folder} is not a folder. Name a folder that contains zips.`, exitFailed);
  const [, host = "", port = ""] = parts;
  const server = makeMirror(folder);
  server.listen(Number(port), host.replace(/^\[|\]$/g, ""));
  try {
    await once(server, "listening");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(`The mirror can't listen there: ${reason}. Choose another address with --listen.`, exitFailed, {
      cause,
    });
  }
  const address = server.address();
  const listening = typeof address === "object" && address !== null ? `${host}:${address.port}` : defaultAddress;
  print(await describeMirror(folder));
  print(`Served at http://${listening}. Start Sitewright with SITEWRIGHT_WPORG_URL=http://${listening}`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  server.closeAllConnections();
  server.close();
  return "The mirror has stopped.";
}
