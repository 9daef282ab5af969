/**
 * A real S3 server for tests: s3rver in its own process and folder, on a free local port. It checks signatures, stores objects
 * on disk and answers as Amazon does, but does not check MD5 and SHA-256. Another store can be tested with
 * `SITEWRIGHT_TEST_S3`, see s3Blobs.test.ts.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { S3Place } from "../s3Blobs.ts";

export interface S3Server {
  /** A place in the server's only bucket. */
  place(prefix: string): S3Place;
  stop(): Promise<void>;
}

const bucket = "archives";
/** The only key that s3rver accepts. */
const key = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };

/** Ends when its parent process ends for any reason. */
const program = `
  const S3rver = require("@20minutes/s3rver");
  process.on("disconnect", () => process.exit());
  new S3rver(JSON.parse(process.argv[1])).run().then(({ port }) => process.send({ port }));
`;

/** Rejects if the server ends before it listens. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), "sws3-"));
  const options = { address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets: [{ name: bucket }] };
  // s3rver encrypts continuation tokens with a cipher that OpenSSL calls legacy.
  const child = spawn(process.execPath, ["--openssl-legacy-provider", "-e", program, JSON.stringify(options)], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  const endpoint = `http://127.0.0.1:${await portOf(child, exited)}`;
  return {
    place: (prefix) => ({ endpoint, bucket, prefix, region: null, ...key }),
    stop: async () => {
      child.kill();
      await exited;
      await rm(directory, { recursive: true });
    },
  };
}

async function portOf(child: ChildProcess, exited: Promise<unknown>): Promise<number> {
  const ended = exited.then(() => Promise.reject(new Error("The S3 server ended before it listened.")));
  const [message]: unknown[] = await Promise.race([once(child, "message"), ended]);
  if (typeof message === "object" && message !== null && "port" in message && typeof message.port === "number") {
    return message.port;
  }
  throw new Error(`The S3 server did not send its port: ${JSON.stringify(message)}`);
}
