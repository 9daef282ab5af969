/**
 * Installs WordPress into a template. Main module of a process that does this once. The installed values are
 * placeholders; `site/rewrite.ts` replaces them with an environment's values.
 */
import type { PHP } from "@php-wasm/universal";
import { serveJob } from "../../job.ts";
import { siteFolder } from "../../phpFolders.ts";
import { serverVariables } from "../../pool/requestVariables.ts";
import type { MultisiteKind } from "../../runtime.ts";
import { placeholders } from "../../site/values/placeholders.ts";
import { bootPhp } from "../php/boot.ts";
import { visitFirstPages } from "../php/firstPages.ts";
import { mountSite, type SiteFolders } from "../php/site.ts";

export interface InstallJob {
  readonly folders: SiteFolders;
  readonly phpVersion: string;
  readonly locale: string;
  readonly multisite: MultisiteKind | null;
}

/** Returns a PHP expression for a text. No text can end it early. */
function expression(text: string): string {
  return `base64_decode('${Buffer.from(text).toString("base64")}')`;
}

/**
 * Prevents mail and outgoing requests: WordPress would request its own address to test pretty permalinks, which work at
 * the edge.
 */
const isolation = `
add_filter( 'pre_wp_mail', '__return_true' );
add_filter( 'pre_http_request', function () {
	return array(
		'headers' => array( 'X-Pingback' => site_url( 'xmlrpc.php' ) ), 'body' => '', 'cookies' => array(),
		'response' => array( 'code' => 200, 'message' => 'OK' ), 'filename' => null,
	);
} );`;

function installCode(locale: string): string {
  const { title, adminUser, adminEmail } = placeholders;
  return `<?php
define( 'WP_INSTALLING', true );
require '${siteFolder}/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
${isolation}
$language = ${expression(locale === "en_US" ? "" : locale)};
if ( $language !== '' ) {
	if ( ! load_default_textdomain( $language ) ) { echo 'unknown language'; exit( 1 ); }
	$GLOBALS['wp_locale'] = new WP_Locale();
}
$result = wp_install( ${expression(title)}, ${expression(adminUser)}, ${expression(adminEmail)}, true, '', wp_generate_password( 40 ), $language );
echo is_wp_error( $result ) ? $result->get_error_message() : 'installed';
`;
}

function networkCode(kind: MultisiteKind): string {
  return `<?php
require '${siteFolder}/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
require ABSPATH . 'wp-admin/includes/network.php';
${isolation}
foreach ( $wpdb->tables( 'ms_global' ) as $table => $prefixed ) { $wpdb->$table = $prefixed; }
install_network();
$result = populate_network( 1, ${expression(placeholders.host)}, ${expression(placeholders.adminEmail)}, ${expression(placeholders.title)}, '/', ${kind === "subdomain"} );
echo is_wp_error( $result ) ? $result->get_error_message() : 'installed';
`;
}

async function run(php: PHP, code: string): Promise<void> {
  const response = await php.runStream({
    code,
    relativeUri: "/wp-admin/install.php",
    headers: { host: placeholders.host },
    $_SERVER: { ...serverVariables("/wp-admin/install.php", ""), REMOTE_ADDR: "127.0.0.1" },
  });
  const output = await response.stdoutText;
  const errors = await response.stderrText;
  if (output !== "installed" || (await response.exitCode) !== 0) {
    throw new Error(`Installing WordPress failed: ${output.slice(0, 2000)} ${errors.slice(0, 2000)}`);
  }
}

async function install(job: InstallJob): Promise<void> {
  const php = await bootPhp({ version: job.phpVersion, network: () => null, opcodes: null });
  await mountSite(php, job.folders);
  await run(php, installCode(job.locale));
  await visitFirstPages(php);
  if (job.multisite !== null) await run(php, networkCode(job.multisite));
}

if (import.meta.main) serveJob(install);
