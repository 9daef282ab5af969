<?php
namespace WP_MySQL_Layer;

use PDOException;
use Throwable;
use WP_MySQL_On_SQLite_Exception;

/** Errors with MySQL's numbers and words, which plugins look at. */
final class Errors {
	/** The number of "This version of MySQL doesn't yet support ...". */
	public const UNSUPPORTED = 1235;
	/** The number of an error that MySQL has no other number for. */
	private const UNKNOWN = 1105;
	/** SQLite's number for a database that can't be changed. */
	private const READ_ONLY = 8;
	/** Lower numbers are SQLite's. */
	private const FIRST_NUMBER = 1000;
	/** Patterns of SQLite's and the driver's messages => number and text of MySQL, which gets the pattern's groups. */
	private const PATTERNS = [
		'/^Failed to parse the MySQL query/'            => [ 1064, 'You have an error in your SQL syntax' ],
		'/^Multi-query is not supported/'               => [ 1064, 'You have an error in your SQL syntax: there is more than one statement' ],
		'/^MySQL query not supported\. Cause: (.*)$/s'  => [ self::UNSUPPORTED, '%s' ],
		'/^no such column: (.*)$/'                      => [ 1054, "Unknown column '%s' in 'field list'" ],
		'/has no column named (.*)$/'                   => [ 1054, "Unknown column '%s' in 'field list'" ],
		'/^ambiguous column name: (.*)$/'               => [ 1052, "Column '%s' in field list is ambiguous" ],
		'/^UNIQUE constraint failed: (.*)$/'            => [ 1062, "Duplicate entry for key '%s'" ],
		'/^NOT NULL constraint failed: (?:.*\.)?(.*)$/' => [ 1048, "Column '%s' cannot be null" ],
		'/^CHECK constraint failed: (.*)$/'             => [ 3819, "Check constraint '%s' is violated" ],
		'/^FOREIGN KEY constraint failed/'              => [
			1452,
			'Cannot add or update a child row, or delete its parent: a foreign key constraint fails',
		],
		'/^database(?: table)? is locked/'              => [ 1205, 'Lock wait timeout exceeded; try restarting transaction' ],
		'/^no such function: (.*)$/'                    => [ self::UNSUPPORTED, 'function %s' ],
		'/^(\w+\(\)) may not be used as a window function/' => [ self::UNSUPPORTED, '%s as a window function' ],
		'/^wrong number of arguments to function (.*)\(\)/' => [ 1582, "Incorrect parameter count in the call to native function '%s'" ],
		'/^Too few arguments to function .*::(?:mysql_)?(\w+)\(\)/' => [ 1582, "Incorrect parameter count in the call to native function '%s'" ],
		'/^(Expression tree is too large.*|too many .*|parser stack overflow|at most \d+ tables in a join|string or blob too big|LIKE or GLOB pattern too complex)$/' => [
			self::UNSUPPORTED,
			'%s',
		],
		'/^The SQLite driver only supports ASCII/'      => [ self::UNSUPPORTED, 'names of tables and columns with letters beyond ASCII' ],
		'/^Illegal regular expression/'                 => [ 3685, 'Illegal argument to a regular expression' ],
		'/^cannot (?:INSERT into|UPDATE) generated column "(.*)"$/' => [ 3105, "The value specified for generated column '%s' is not allowed" ],
		'/^misuse of (?:aggregate|window)/'             => [ 1111, 'Invalid use of group function' ],
		'/^near "(.*)": syntax error$/s'                => [ self::UNSUPPORTED, 'syntax near "%s"' ],
		'/^cannot store (\w+) value in \w+ column (.*)$/' => [ 1366, "Incorrect %s value for column '%s'" ],
		'/^(SELECTs to the left and right of .*|all VALUES must .*)$/' => [
			1222,
			'The used SELECT statements have a different number of columns',
		],
	];
	/** SQLSTATE by number; others have HY000. */
	private const STATES = [
		1044 => '42000',
		1048 => '23000',
		1049 => '42000',
		1052 => '23000',
		1050 => '42S01',
		1051 => '42S02',
		1054 => '42S22',
		1060 => '42S21',
		1062 => '23000',
		1067 => '42000',
		1091 => '42000',
		1064 => '42000',
		1136 => '21S01',
		1146 => '42S02',
		1231 => '42000',
		1235 => '42000',
		1305 => '42000',
		1364 => 'HY000',
		1222 => '21000',
		1452 => '23000',
		3819 => 'HY000',
	];

	/** Creates an error, to be thrown. */
	public static function create(
		Driver $driver,
		int $number,
		string $message,
		?Throwable $previous = null
	): WP_MySQL_On_SQLite_Exception {
		$state = self::STATES[ $number ] ?? 'HY000';
		return new WP_MySQL_On_SQLite_Exception(
			$driver,
			"SQLSTATE[$state]: $number $message",
			$state,
			$previous,
			[ $state, $number, $message ]
		);
	}

	public static function unknown_database( Driver $driver, string $name ): WP_MySQL_On_SQLite_Exception {
		return self::create( $driver, 1049, "Unknown database '$name'" );
	}

	public static function no_table( Driver $driver, string $table ): WP_MySQL_On_SQLite_Exception {
		return self::create( $driver, 1146, "Table '{$driver->schema()->database()}.$table' doesn't exist" );
	}

	public static function table_exists( Driver $driver, string $table ): WP_MySQL_On_SQLite_Exception {
		return self::create( $driver, 1050, "Table '$table' already exists" );
	}

	/** An error for a statement that works on MySQL, and can't here. */
	public static function unsupported(
		Driver $driver,
		string $sentence,
		?Throwable $previous = null
	): WP_MySQL_On_SQLite_Exception {
		return self::create( $driver, self::UNSUPPORTED, "Not supported on SQLite: $sentence", $previous );
	}

	/** Returns an error of the driver or of SQLite in MySQL's words. */
	public static function translated( Driver $driver, Throwable $error, string $query ): WP_MySQL_On_SQLite_Exception {
		[ $state, $number, $message ] = self::facts_of( $error );
		if ( 1146 === $number && 1 === preg_match( "/^Table '([^.]*)' doesn't exist$/", $message, $parts ) ) {
			return self::no_table( $driver, $parts[1] );
		}
		if ( $error instanceof WP_MySQL_On_SQLite_Exception && $number >= self::FIRST_NUMBER && self::UNKNOWN !== $number ) {
			return $error;
		}
		foreach ( self::PATTERNS as $pattern => [ $new_number, $text ] ) {
			if ( 1 === preg_match( $pattern, $message, $parts ) ) {
				$words = vsprintf( $text, array_slice( $parts, 1 ) );
				return self::UNSUPPORTED === $new_number
					? self::unsupported( $driver, $words, $error )
					: self::create( $driver, $new_number, $words, $error );
			}
		}
		return new WP_MySQL_On_SQLite_Exception( $driver, $error->getMessage(), $state, $error, [ $state, self::UNKNOWN, $message ] );
	}

	/** Whether SQLite refused a change because the database is read-only. */
	public static function is_read_only( ?Throwable $error ): bool {
		return null !== $error && ( self::READ_ONLY === self::facts_of( $error )[1] || self::is_read_only( $error->getPrevious() ) );
	}

	/** @return array{string, int, string} SQLSTATE, number, message. */
	private static function facts_of( Throwable $error ): array {
		$info = $error instanceof PDOException && is_array( $error->errorInfo ) ? $error->errorInfo : [];
		return [ (string) ( $info[0] ?? 'HY000' ), (int) ( $info[1] ?? 0 ), (string) ( $info[2] ?? $error->getMessage() ) ];
	}
}
