/** The files of WordPress itself, as a new version brings them. */

const ownConfig = "wp-config.php";

/** Whether a file of this name, in the web root itself, is never WordPress's, but what the site's owner makes of it. */
export function isSitesOwn(name: string): boolean {
  return name.startsWith(".") || name.toLowerCase() === ownConfig;
}
