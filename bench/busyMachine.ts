/**
 * `busyMachine.ts <count>`: uses the processors with so many processes that never pause, at normal priority, until its parent
 * disconnects. Needs a session of its own, all of whose processes it ends then.
 */
import { spawn } from "node:child_process";
import { useNormalPriority } from "@sitewright/e2e/priority.ts";

useNormalPriority();
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));
const [count = "1"] = process.argv.slice(2);
for (let started = 0; started < Number(count); started += 1) {
  spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
}
