/** Entry point of the processes that the supervisor runs: `node server/main.ts control`, `edge` or `dns`. */
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import type { RuntimeName } from "@sitewright/runtimes/runtimeNames.ts";
import type { Logger } from "pino";
import type { Config } from "./settings/config.ts";

const processes: Readonly<Record<string, () => Promise<void>>> = {
  control: async () => {
    const { runControl } = await import("./control.ts");
    const { createPlaygroundRuntime } = await import("@sitewright/runtimes/playground/runtime.ts");
    const { createNativeRuntime } = await import("@sitewright/runtimes/native/runtime.ts");
    const { createTemplateStore } = await import("@sitewright/runtimes/playground/templates/template.ts");
    const { createAssetStore } = await import("@sitewright/runtimes/assets/store.ts");
    const { openNativeMachine } = await import("./nativeMachine.ts");
    const { phpNetwork } = await import("./phpNetwork.ts");
    const { createPhpCredentials } = await import("@sitewright/runtimes/phpCredentials.ts");
    const { openKeySource } = await import("./keyFile.ts");
    const { secretsKeyFile } = await import("./sealedSettings.ts");
    const { openSpool } = await import("./mail/spool.ts");
    const { makeAcceptMail } = await import("./mail/accept.ts");
    const { useUsersFrom } = await import("@sitewright/runtimes/owner.ts");
    const { useProcessorGroups } = await import("@sitewright/runtimes/processor/companies.ts");
    await runControl(async (config: Config, log: Logger) => {
      useUsersFrom(config.firstUserId);
      useProcessorGroups(config.data);
      const { assets, environments, diskReserveBytes, readyCopies, eventsFile, publicPort, uploads } = config;
      const { of: credentialOf } = createPhpCredentials(await openKeySource(secretsKeyFile(config.data)));
      const network = { ...phpNetwork(config), credentialOf, edgePort: publicPort };
      const onFailure = (err: unknown) =>
        log.error({ err }, "Storing a message from a WP-CLI command failed; PHP got an error");
      const acceptMail = makeAcceptMail({ spool: openSpool(config.mailSpool), onFailure });
      const common = { assets, environments, diskReserveBytes, acceptMail, uploads };
      const machine = await openNativeMachine(config, log, "control");
      const native =
        machine === null
          ? null
          : createNativeRuntime({
              ...common,
              ...machine,
              ready: { ...readyCopies, folder: `${readyCopies.folder}-native` },
              network: machine.sandboxNetwork,
              packageSource: network.packageSource,
              templates: createTemplateStore(createAssetStore({ folder: assets })),
            });
      return {
        playground: createPlaygroundRuntime({ ...common, ready: readyCopies, eventsFile, network }),
        ...(native !== null && { native }),
      } satisfies Partial<Record<RuntimeName, Runtime>>;
    });
  },
  edge: async () => {
    const { runEdge } = await import("./edgeProcess.ts");
    await runEdge();
  },
  dns: async () => {
    const { runDns } = await import("./dnsProcess.ts");
    await runDns();
  },
};

const name = process.argv[2] ?? "";
const run = processes[name];
if (!run) {
  process.stderr.write(`Usage: node server/main.ts ${Object.keys(processes).join("|")}\n`);
  process.exit(2);
}
await run();
