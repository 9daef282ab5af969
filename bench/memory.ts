/** Memory of an installation's processes, and sites that fall asleep. */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { descendants } from "@sitewright/e2e/processes.ts";
import { until } from "@sitewright/e2e/until.ts";
import { untilWorkersArePrepared } from "./creation.ts";
import { edgeStatus } from "./edgeStatus.ts";
import { untilIdle } from "./machine.ts";

/** The control process releases the memory of its start after ten seconds. */
const restMilliseconds = 15_000;

/** Memory of all processes in bytes; pages that several share are divided among them (PSS). */
export async function memoryOf({ supervisor }: Installation): Promise<number> {
  const root = supervisor.pid ?? 0;
  const ids = [root, ...(await descendants(root)).map(({ id }) => id)];
  const sizes = ids.map(async (id) => {
    const text = await readFile(`/proc/${id}/smaps_rollup`, "utf8").catch(() => "");
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

/** The memory when nothing has happened for a while. */
export async function memoryAtRest(installation: Installation): Promise<number> {
  await untilIdle();
  await delay(restMilliseconds);
  return memoryOf(installation);
}

/** Waits until no site has a worker, and one worker is prepared. */
export async function untilAllSleep(adminSocket: string): Promise<void> {
  await until(
    async () => {
      const { workers } = await edgeStatus(adminSocket);
      if (workers.length > 0) throw new Error(`${workers.length} workers still run`);
    },
    { deadlineSeconds: 240, intervalMilliseconds: 500 },
  );
  await untilWorkersArePrepared(adminSocket, 1);
  await untilIdle();
}
