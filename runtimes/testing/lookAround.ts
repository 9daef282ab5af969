/** A job that reports what its process may do. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serveJob } from "../job.ts";

export interface LookAround {
  readonly database: string;
  readonly results: string;
  /** A file that only root can read. */
  readonly secret: string;
  readonly fillMemory: boolean;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "unreadable";
  }
}

if (import.meta.main) {
  serveJob(async ({ database, results, secret, fillMemory }: LookAround) => {
    const opened = new DatabaseSync(database);
    const rows = opened.prepare("SELECT count(*) AS rows FROM a").get()?.rows;
    opened.close();
    const filled: Buffer[] = [];
    while (fillMemory) {
      filled.push(Buffer.alloc(8 << 20, 1));
      await new Promise((resolve) => setImmediate(resolve));
    }
    writeFileSync(path.join(results, "made"), "made");
    return {
      rows,
      uid: process.getuid?.(),
      groups: process.getgroups?.(),
      secret: read(secret),
      network: Object.keys(networkInterfaces()),
      listed: existsSync(results) ? readdirSync(results) : [],
      status: read("/proc/self/status"),
      oomScore: read("/proc/self/oom_score_adj").trim(),
    };
  });
}
