/** Serves a site natively, in a process of its own that is not root. Prints the answers to a visitor and to WP-CLI as JSON. */
import { addScript, runPhp, visitorOf } from "../../testing/visitor.ts";
import { openNative } from "./world.ts";

const native = await openNative();
try {
  const site = await native.site({ title: "Unprivileged" });
  const visitor = visitorOf(native.serving, site);
  await addScript(site, "write.php", "echo json_encode( @file_put_contents( 'made.txt', 'x' ) );");
  const get = async (url: string, isReadOnly: boolean) => (await visitor.get(url, { isReadOnly })).text;
  const hasTitle = (page: string) => page.includes("<title>Unprivileged</title>");
  const command = { phpVersion: native.phpVersion, argv: ["option", "get", "blogname"], seconds: 120 };
  const never = new AbortController().signal;
  const { stdout } = await native.runtime.runWpCli(site.environment, command, async () => undefined, never);
  const facts = {
    page: hasTitle(await get("/", false)),
    readOnlyPage: hasTitle(await get("/", true)),
    writtenReadOnly: await get("/write.php", true),
    written: await get("/write.php", false),
    wpCli: stdout.text.trim(),
    secret: await runPhp(native.serving, site, "echo json_encode( @file_get_contents( '/etc/passwd' ) );"),
  };
  process.stdout.write(JSON.stringify(facts));
} finally {
  await native.close();
}
