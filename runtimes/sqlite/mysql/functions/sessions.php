<?php
namespace WP_MySQL_Layer;

/**
 * Functions about the connection and the server.
 * https://dev.mysql.com/doc/refman/8.0/en/information-functions.html
 */
final class Session_Functions extends Function_Set {
	public const VOLATILE  = [ 'connection_id', 'last_insert_id', 'mysql_count_update', 'sleep' ];
	public const WITH_NULL = [ 'last_insert_id', 'sleep', 'benchmark', 'charset', 'collation', 'coercibility', 'name_const' ];
	private const USER = 'root@localhost';

	/** A value set by LAST_INSERT_ID with an argument, until the next row with a number of its own is inserted. */
	private ?array $remembered = null;

	/** For what a server without files, roles and replicas answers with NULL. */
	public function nothing( ...$arguments ) {
		return null;
	}

	public function connection_id(): int {
		return getmypid();
	}

	public function user(): string {
		return self::USER;
	}

	/** With an argument, returns it, and again when called without one. */
	public function last_insert_id( $value = false ): ?string {
		$inserted = $this->driver->last_number();
		if ( false !== $value ) {
			$this->remembered = [ $inserted, null === $value ? '0' : (string) Number::integer( $value ) ];
			return null === $value ? null : $this->remembered[1];
		}
		return null !== $this->remembered && $this->remembered[0] === $inserted ? $this->remembered[1] : $inserted;
	}

	/** Counts a row that INSERT updates. Returns true. */
	public function mysql_count_update(): int {
		$this->driver->count_update();
		return 1;
	}

	public function sleep( $seconds ): int {
		usleep( (int) ( max( 0, Number::number( $seconds ) ) * 1000000 ) );
		return 0;
	}

	public function benchmark( $count, $expression ): int {
		return 0;
	}

	public function charset( $value ): string {
		return is_string( $value ) ? 'utf8mb4' : 'binary';
	}

	public function collation( $value ): string {
		return is_string( $value ) ? Schema::COLLATION : 'binary';
	}

	public function coercibility( $value ): int {
		return is_string( $value ) ? 4 : 5;
	}

	public function name_const( $name, $value ) {
		return $value;
	}
}
