/**
 * `npm run --silent operator -- <command>`: commands for the operator of the installation. Standard output contains only the
 * result.
 *
 * Exit codes: 0 success, 1 failure, 2 invalid command or setting.
 */
import { runCommand } from "./operator/runCommand.ts";

const terminal = { input: process.stdin, output: process.stderr };
const { output, errors, exitCode } = await runCommand(process.argv.slice(2), { env: process.env, terminal });
process.stdout.write(output);
process.stderr.write(errors);
process.exitCode = exitCode;
