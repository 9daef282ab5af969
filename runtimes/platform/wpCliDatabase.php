<?php
/**
 * WP-CLI's commands that start a mysql program. There is none, and the database is SQLite, so these use WordPress's own
 * connection, which understands MySQL's SQL.
 */

final class Sitewright_Database_Command {
	private const CONNECTION = '[--dbuser=<value>] [--dbpass=<value>] [--defaults] [--<field>=<value>]';
	public const COMMANDS    = array(
		'query'    => array(
			'shortdesc' => 'Runs SQL statements and prints rows, separated by tabs.',
			'synopsis'  => '<sql> [--skip-column-names] ' . self::CONNECTION,
		),
		'export'   => array(
			'shortdesc' => 'Writes the database as SQL for MySQL to a file, or to standard output with -.',
			'synopsis'  => '[<file>] [--tables=<tables>] [--exclude_tables=<tables>] [--porcelain] ' . self::CONNECTION,
		),
		'import'   => array(
			'shortdesc' => 'Runs the SQL statements in a file of the site. Statements before an error stay in effect.',
			'synopsis'  => '<file> [--skip-optimization] ' . self::CONNECTION,
		),
		'check'    => array(
			'shortdesc' => 'Checks all tables.',
			'synopsis'  => self::CONNECTION,
		),
		'optimize' => array(
			'shortdesc' => 'Optimizes all tables.',
			'synopsis'  => self::CONNECTION,
		),
		'repair'   => array(
			'shortdesc' => 'Repairs all tables.',
			'synopsis'  => self::CONNECTION,
		),
	);
	/** Rows that are read at once for an export. */
	private const ROWS = 200;

	public function query( $args, $assoc_args ) {
		foreach ( self::statements( array( $args[0] ) ) as $statement ) {
			$rows = $this->run( $statement );
			if ( array() !== $rows ) {
				$this->print_rows( $rows, isset( $assoc_args['skip-column-names'] ) );
			}
		}
	}

	public function export( $args, $assoc_args ) {
		$file   = $args[0] ?? 'wordpress-' . gmdate( 'Y-m-d' ) . '-' . substr( md5( random_bytes( 8 ) ), 0, 7 ) . '.sql';
		$output = '-' === $file ? STDOUT : @fopen( $file, 'w' );
		if ( false === $output ) {
			WP_CLI::error( "$file could not be opened for writing." );
		}
		$list   = static fn( $name ) => array_filter( explode( ',', $assoc_args[ $name ] ?? '' ) );
		$tables = array_diff( $list( 'tables' ) ?: $this->tables(), $list( 'exclude_tables' ) );
		$this->write( $output, "SET NAMES utf8mb4;\nSET FOREIGN_KEY_CHECKS = 0;\nSET SQL_MODE = 'NO_AUTO_VALUE_ON_ZERO';\n" );
		foreach ( $tables as $table ) {
			$this->export_table( $output, $table );
		}
		$this->write( $output, '-- Dump completed on ' . gmdate( 'Y-m-d H:i:s' ) . "\n" );
		if ( isset( $assoc_args['porcelain'] ) ) {
			WP_CLI::line( $file );
		} elseif ( '-' !== $file ) {
			WP_CLI::success( "Exported to '$file'." );
		}
	}

	public function import( $args ) {
		$lines = is_readable( $args[0] ) && is_file( $args[0] ) ? new SplFileObject( $args[0] ) : null;
		if ( null === $lines ) {
			WP_CLI::error( "$args[0] can't be read. Name a file of the site." );
		}
		$count = 0;
		foreach ( self::statements( $lines ) as $statement ) {
			++$count;
			$this->run( $statement, "Statement $count: " );
		}
		wp_cache_flush();
		WP_CLI::success( "Imported from '$args[0]'." );
	}

	public function check() {
		$this->maintain( 'CHECK', 'checked' );
	}

	public function optimize() {
		$this->maintain( 'OPTIMIZE', 'optimized' );
	}

	public function repair() {
		$this->maintain( 'REPAIR', 'repaired' );
	}

	private function maintain( string $verb, string $done ): void {
		foreach ( $this->tables() as $table ) {
			$rows   = $this->run( "$verb TABLE " . self::quoted_name( $table ) );
			$result = (string) ( end( $rows )['Msg_text'] ?? 'OK' );
			WP_CLI::line( sprintf( '%-50s %s', DB_NAME . ".$table", $result ) );
		}
		WP_CLI::success( "Database $done." );
	}

	/** Splits SQL into statements. A piece, such as a line of a file, may contain several statements or a part of one. */
	private static function statements( iterable $pieces ): Generator {
		$sql      = '';
		$at_least = 0;
		foreach ( $pieces as $piece ) {
			$sql .= $piece;
			// Only then the last statement may be complete.
			if ( ! str_ends_with( rtrim( $piece ), ';' ) || strlen( $sql ) < $at_least ) {
				continue;
			}
			[ $complete, $sql ] = self::split( $sql );
			yield from $complete;
			// A long text with semicolons at the ends of its lines is not read again for each of them.
			$at_least = array() === $complete ? 2 * strlen( $sql ) : 0;
		}
		[ $complete, $rest ] = self::split( $sql );
		yield from $complete;
		if ( '' !== trim( $rest ) && ( new WP_MySQL_Lexer( $rest ) )->remaining_tokens()[0]->id !== WP_MySQL_Lexer::EOF ) {
			yield $rest;
		}
	}

	/** Returns the complete statements, without their semicolons, and the rest. */
	private static function split( string $sql ): array {
		$complete = array();
		$begin    = 0;
		foreach ( ( new WP_MySQL_Lexer( $sql ) )->remaining_tokens() as $token ) {
			if ( WP_MySQL_Lexer::SEMICOLON_SYMBOL === $token->id ) {
				$complete[] = substr( $sql, $begin, $token->start - $begin );
				$begin      = $token->start + 1;
			}
		}
		$without_empty = array_filter( $complete, static fn( $text ) => '' !== trim( $text ) );
		return array( array_values( $without_empty ), substr( $sql, $begin ) );
	}

	/** Runs a statement. Returns its rows. */
	private function run( string $statement, string $prefix = '' ): array {
		global $wpdb;
		$wpdb->suppress_errors();
		$result = $wpdb->query( $statement );
		if ( false === $result || '' !== $wpdb->last_error ) {
			WP_CLI::error( $prefix . ( $wpdb->last_error ?: 'The statement failed.' ) );
		}
		return array_map( static fn( $row ) => (array) $row, (array) $wpdb->last_result );
	}

	private function tables(): array {
		return array_map( 'current', $this->run( 'SHOW TABLES' ) );
	}

	private function print_rows( array $rows, bool $is_bare ): void {
		$escaped = array( '\\' => '\\\\', "\t" => '\t', "\n" => '\n', "\0" => '\0' );
		$escape  = static fn( $value ) => null === $value ? 'NULL' : strtr( (string) $value, $escaped );
		$print   = static fn( $values ) => WP_CLI::line( implode( "\t", array_map( $escape, $values ) ) );
		if ( ! $is_bare ) {
			$print( array_keys( $rows[0] ) );
		}
		array_map( $print, $rows );
	}

	/** @param resource $output */
	private function export_table( $output, string $table ): void {
		$name   = self::quoted_name( $table );
		$create = array_values( $this->run( "SHOW CREATE TABLE $name" )[0] ?? array() )[1] ?? null;
		if ( null === $create ) {
			WP_CLI::error( "There is no table $table." );
		}
		$this->write( $output, "\nDROP TABLE IF EXISTS $name;\n" . rtrim( $create, ';' ) . ";\n" );
		for ( $offset = 0; ; $offset += self::ROWS ) {
			$rows = $this->run( "SELECT * FROM $name LIMIT $offset, " . self::ROWS );
			if ( array() === $rows ) {
				return;
			}
			$values = static fn( $row ) => '(' . implode( ',', array_map( array( self::class, 'quoted' ), $row ) ) . ')';
			$this->write( $output, "INSERT INTO $name VALUES\n" . implode( ",\n", array_map( $values, $rows ) ) . ";\n" );
		}
	}

	/** @param resource $output */
	private function write( $output, string $text ): void {
		if ( strlen( $text ) !== fwrite( $output, $text ) ) {
			WP_CLI::error( 'The disk is full.' );
		}
	}

	private static function quoted_name( string $name ): string {
		return '`' . str_replace( '`', '``', $name ) . '`';
	}

	private static function quoted( ?string $value ): string {
		if ( null === $value ) {
			return 'NULL';
		}
		if ( '' !== $value && ! mb_check_encoding( $value, 'UTF-8' ) ) {
			return '0x' . bin2hex( $value );
		}
		$escaped = array( '\\' => '\\\\', "'" => "\\'", "\n" => '\\n', "\r" => '\\r', "\0" => '\\0', "\x1a" => '\\Z' );
		return "'" . strtr( $value, $escaped ) . "'";
	}
}
