/** The ports to listen on, checked before anything is started that would need them. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface WantedPort {
  /** 0: any free one. */
  readonly port: number;
  /** What listens there, for the person. */
  readonly purpose: string;
  readonly setting: string;
}

/**
 * Resolves to a concrete free port for each, in order. Throws one sentence per port that can't be had, or one for all.
 * `patience` is how long to wait for a port to become free, in milliseconds.
 * `preferred` is taken for a port of 0 where it is free: addresses of sites hold the port.
 */
export async function findPorts(
  host: string,
  wanted: readonly (WantedPort & { readonly preferred?: number | undefined })[],
  patience = 0,
): Promise<number[]> {
  const giveUp = Date.now() + patience;
  const found: number[] = [];
  const problems: string[] = [];
  for (const one of wanted) {
    const choices = one.port === 0 ? [one.preferred ?? [], anyPorts()].flat() : [one.port];
    const tried = await firstFree(host, choices, found, giveUp);
    if (typeof tried === "number") {
      found.push(tried);
    } else {
      problems.push(explain(tried, host, one));
    }
  }
  if (problems.length > 0) {
    // What is wrong with the address is wrong for each port.
    throw new Error([...new Set(problems)].join("\n"));
  }
  return found;
}

/**
 * Not the system's choice for port 0: that is one of those that it lends to whoever connects to somewhere, and
 * could be lent again before our process comes to listen on it.
 */
function anyPorts(): number[] {
  return Array.from({ length: 50 }, () => randomInt(20_000, 32_000));
}

async function firstFree(
  host: string,
  choices: readonly number[],
  taken: readonly number[],
  giveUp: number,
): Promise<number | Error> {
  let last: number | Error = new Error("No port to try");
  for (const choice of choices) {
    last = taken.includes(choice) ? inUse() : await tryPort(host, choice);
    while (isInUse(last) && !taken.includes(choice) && Date.now() < giveUp) {
      await delay(50);
      last = await tryPort(host, choice);
    }
    if (typeof last === "number") {
      return last;
    }
  }
  return last;
}

const inUse = () => Object.assign(new Error(), { code: "EADDRINUSE" });
const isInUse = (result: number | Error) =>
  typeof result !== "number" && "code" in result && result.code === "EADDRINUSE";

/** Listens for a moment. Resolves to the port, or to the error that stood in the way. */
function tryPort(host: string, port: number): Promise<number | Error> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(port)));
  });
}

function explain(error: Error, host: string, { port, purpose, setting }: WantedPort): string {
  const code = "code" in error ? error.code : undefined;
  if (isInUse(error)) {
    return `Port ${port} (${purpose}) is in use by another program. End that one, or set ${setting} to another port.`;
  }
  if (code === "EACCES") {
    return `Port ${port} (${purpose}) is not allowed to this user. Set ${setting} to a port of 1024 or higher.`;
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `The address ${host} is none of this machine's. Set SITEWRIGHT_HOST to one that is, such as 127.0.0.1.`;
  }
  return `Port ${port} (${purpose}) can't be used: ${error.message}. Set ${setting} to another port.`;
}
