/** A download that resumes where it broke off: received data stays in `<file>.part` between attempts and restarts. */
import { open, rename, rm, stat } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { finished } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { TarballAddress } from "./npm.ts";

const maxAttempts = 3;
const stallMilliseconds = 30_000;
const maximumRedirects = 5;

/** The server refused the request; retrying won't help. */
export class DownloadRefused extends Error {
  override readonly name = "DownloadRefused";
}

type OnBytes = (done: number, total: number | null) => void;

function request(address: TarballAddress, offset: number, redirects = 0): Promise<http.IncomingMessage> {
  const url = new URL(address.url);
  const secure = url.protocol === "https:";
  const agent = secure
    ? new https.Agent({ ca: address.certificates, proxyEnv: { ...process.env, ...address.proxy } })
    : new http.Agent({ proxyEnv: { ...process.env, ...address.proxy } });
  const headers = offset > 0 ? { range: `bytes=${offset}-` } : {};
  return new Promise((resolve, reject) => {
    const outgoing = (secure ? https : http).get(url, { agent, headers, timeout: stallMilliseconds }, (response) => {
      const location = response.headers.location;
      if (location === undefined || (response.statusCode ?? 0) >= 400) return resolve(response);
      response.resume();
      if (redirects === maximumRedirects) return reject(new DownloadRefused("too many redirects"));
      resolve(request({ ...address, url: new URL(location, url).href }, offset, redirects + 1));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no data for ${stallMilliseconds / 1000} s`)));
    outgoing.on("error", reject);
  });
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    (found) => found.size,
    () => 0,
  );
}

/**
 * Writes the response to the part file. If the response breaks off, rejects after writing what has arrived, so that the
 * next attempt resumes there.
 */
async function save(response: http.IncomingMessage, part: string, flags: "a" | "w"): Promise<void> {
  const opened = open(part, flags);
  let written: Promise<unknown> = opened;
  response.on("data", (chunk: Buffer) => {
    response.pause();
    written = written.then(async () => (await opened).appendFile(chunk));
    written.then(
      () => response.resume(),
      (error: Error) => response.destroy(error),
    );
  });
  try {
    await finished(response);
  } finally {
    await written.finally(async () => (await opened).close());
  }
}

async function attempt(address: TarballAddress, part: string, onBytes: OnBytes): Promise<void> {
  const offset = await sizeOf(part);
  const response = await request(address, offset);
  const status = response.statusCode ?? 0;
  if (status === 416) {
    response.resume();
    await rm(part, { force: true });
    throw new Error("the server does not have the requested range");
  }
  if (status !== 200 && status !== 206) {
    response.resume();
    const message = `the server answered ${status}`;
    throw status >= 400 && status < 500 && status !== 408 && status !== 429
      ? new DownloadRefused(message)
      : new Error(message);
  }
  let done = status === 206 ? offset : 0;
  const length = response.headers["content-length"];
  const total = length === undefined ? null : done + Number(length);
  onBytes(done, total);
  response.on("data", (chunk: Buffer) => {
    done += chunk.length;
    onBytes(done, total);
  });
  await save(response, part, status === 206 ? "a" : "w");
  if (total !== null && done !== total) throw new Error("the connection ended early");
}

/**
 * Downloads to `file`. Rejects with the last attempt's error. The pause between attempts starts at `pauseMilliseconds`
 * and doubles.
 */
export async function download(
  address: TarballAddress,
  file: string,
  onBytes: OnBytes,
  pauseMilliseconds = 1000,
): Promise<void> {
  const part = `${file}.part`;
  for (let attempts = 1; ; attempts += 1) {
    try {
      await attempt(address, part, onBytes);
      await rename(part, file);
      return;
    } catch (error) {
      if (attempts === maxAttempts || error instanceof DownloadRefused) throw error;
      await delay(pauseMilliseconds * 2 ** (attempts - 1));
    }
  }
}
