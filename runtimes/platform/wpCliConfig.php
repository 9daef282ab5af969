<?php
/**
 * WP-CLI adds constants to wp-config.php above a comment. Sites of earlier versions, and some that were brought along, lack
 * it: they get it when a command is about to add something.
 */

final class Sitewright_Config_Comment {
	private const COMMENT = "/* That's all, stop editing! Happy publishing. */\n";
	/** What WP-CLI looks for. */
	private const BEGINNING = "/* That's all, stop editing!";
	/** The lines below the constants, in our files and in others. */
	private const LINES_BELOW = array(
		'/^[ \t]*if\s*\(\s*!\s*defined\(\s*[\'"]ABSPATH[\'"]\s*\)/m',
		'/^[ \t]*(?:require|include)(?:_once)?\b[^;\n]*wp-settings\.php/m',
	);

	public static function watch(): void {
		foreach ( array( 'set', 'shuffle-salts' ) as $verb ) {
			WP_CLI::add_hook( "before_invoke:config $verb", array( self::class, 'add' ) );
		}
	}

	public static function add(): void {
		$path = WP_CLI\Utils\locate_wp_config();
		$text = false !== $path && is_writable( $path ) ? (string) file_get_contents( $path ) : self::BEGINNING;
		if ( str_contains( $text, self::BEGINNING ) ) {
			return;
		}
		foreach ( self::LINES_BELOW as $line ) {
			if ( 1 === preg_match( $line, $text, $found, PREG_OFFSET_CAPTURE ) ) {
				file_put_contents( $path, substr_replace( $text, self::COMMENT, $found[0][1], 0 ) );
				return;
			}
		}
	}
}
