<?php
/** `wp dropin`: switches drop-ins off and on. It works without WordPress, which a drop-in may keep from loading. */

/**
 * Lists, switches off, switches on and deletes drop-ins: files such as object-cache.php that WordPress loads from wp-content.
 */
final class Sitewright_Drop_In_Command {
	/** The web server never serves files with this name, because they contain PHP. */
	private const OFF = '.off';

	/**
	 * Lists drop-ins.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : Format of the list: table, csv, json, yaml or count.
	 * ---
	 * default: table
	 * ---
	 *
	 * @subcommand list
	 * @when before_wp_load
	 */
	public function list_( $_, $assoc_args ) {
		$found = array();
		foreach ( Sitewright_Loading::DROP_INS as $name ) {
			if ( is_file( $this->path( $name ) ) ) {
				$found[] = array( 'name' => $name, 'status' => 'active' );
			}
			if ( is_file( $this->path( $name ) . self::OFF ) ) {
				$found[] = array( 'name' => $name, 'status' => 'inactive' );
			}
		}
		WP_CLI\Utils\format_items( $assoc_args['format'] ?? 'table', $found, array( 'name', 'status' ) );
	}

	/**
	 * Switches a drop-in off: WordPress no longer loads it.
	 *
	 * ## OPTIONS
	 *
	 * <name>
	 * : The file's name, such as object-cache.php.
	 *
	 * @when before_wp_load
	 */
	public function deactivate( $args ) {
		$path = $this->path( $args[0] );
		$this->move( $path, $path . self::OFF );
		WP_CLI::success( "Switched off $args[0]." );
	}

	/**
	 * Switches a drop-in on again.
	 *
	 * ## OPTIONS
	 *
	 * <name>
	 * : The file's name, such as object-cache.php.
	 *
	 * @when before_wp_load
	 */
	public function activate( $args ) {
		$path = $this->path( $args[0] );
		if ( is_file( $path ) ) {
			WP_CLI::error( "There already is an active $args[0]." );
		}
		$this->move( $path . self::OFF, $path );
		WP_CLI::success( "Switched on $args[0]." );
	}

	/**
	 * Deletes a drop-in, whether it is switched on or off.
	 *
	 * ## OPTIONS
	 *
	 * <name>
	 * : The file's name, such as object-cache.php.
	 *
	 * @when before_wp_load
	 */
	public function delete( $args ) {
		$path  = $this->path( $args[0] );
		$files = array_filter( array( $path, $path . self::OFF ), 'is_file' );
		if ( array() === $files ) {
			WP_CLI::error( "There is no $args[0] in wp-content." );
		}
		foreach ( $files as $file ) {
			unlink( $file ) || WP_CLI::error( "$args[0] could not be deleted." );
		}
		WP_CLI::success( "Deleted $args[0]." );
	}

	private function path( string $name ): string {
		if ( ! in_array( $name, Sitewright_Loading::DROP_INS, true ) ) {
			$names = implode( ', ', Sitewright_Loading::DROP_INS );
			WP_CLI::error( "$name is not a drop-in that can be switched off. Name one of these: $names." );
		}
		return ABSPATH . "wp-content/$name";
	}

	private function move( string $from, string $to ): void {
		if ( ! is_file( $from ) ) {
			WP_CLI::error( 'There is no ' . basename( $from ) . ' in wp-content.' );
		}
		rename( $from, $to ) || WP_CLI::error( basename( $from ) . ' could not be renamed.' );
	}
}
