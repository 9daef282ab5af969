/** Starts a program in a sandbox, which runs until this process is killed. Parameters: a data folder, and the sandbox as JSON. */
import { useEnvironmentGroups } from "../../processor/environments.ts";
import { spawnSandboxed } from "../spawnSandboxed.ts";

const [data = "", sandbox = ""] = process.argv.slice(2);
await useEnvironmentGroups(data);
const child = spawnSandboxed(JSON.parse(sandbox), ["sh", "-c", "echo ready; exec sleep 60"], ["ignore", "pipe"]);
child.stdout?.once("data", () => process.send?.(child.pid));
