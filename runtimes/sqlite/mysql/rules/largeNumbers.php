<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/**
 * Calls of functions with integers beyond 32 bits. PDO passes no more to PHP's functions for SQLite, and takes no more from
 * them. So these integers travel as texts.
 */
final class Large_Numbers {
	/** Functions whose first argument may be a large integer. */
	private const FIRST = [
		...[ 'bin', 'bit_count', 'conv', 'crc32', 'export_set', 'find_in_set', 'from_unixtime', 'inet_ntoa', 'interval', 'lpad', 'make_set' ],
		...[ 'md5', 'mysql_date', 'mysql_date_format', 'mysql_datetime', 'mysql_format', 'mysql_insert', 'mysql_left', 'mysql_right', 'mysql_round' ],
		...[ 'mysql_truncate', 'oct', 'quote', 'repeat', 'reverse', 'rpad', 'sec_to_time', 'sha', 'sha1', 'sha2' ],
		...[ 'substring_index', 'to_base64' ],
	];
	/** Positions of such arguments of other functions. */
	private const OTHERS = [
		'elt'                    => [ 1, 2, 3, 4, 5 ],
		'instr'                  => [ 0, 1 ],
		'locate'                 => [ 0, 1 ],
		'mysql_bitwise_xor'      => [ 0, 1 ],
		'mysql_date_add'         => [ 0, 1 ],
		'mysql_date_sub'         => [ 0, 1 ],
		'mysql_extract'          => [ 1 ],
		'mysql_field'            => [ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 ],
		'mysql_integer_division' => [ 0, 1 ],
		'mysql_mod'              => [ 0, 1 ],
		'mysql_time_add'         => [ 0, 1 ],
		'mysql_time_sub'         => [ 0, 1 ],
	];

	/** Functions that may return large integers, as texts. */
	private const RESULTS = [
		...[ 'crc32', 'inet_aton', 'last_insert_id', 'mysql_bitwise_xor', 'mysql_extract', 'mysql_integer_division', 'mysql_mod' ],
		...[ 'mysql_round', 'mysql_timestamp_diff', 'mysql_truncate', 'to_seconds', 'unix_timestamp', 'uuid_short' ],
	];

	/** @return int[] */
	private static function positions( string $function ): array {
		return self::OTHERS[ $function ] ?? ( in_array( $function, self::FIRST, true ) ? [ 0 ] : [] );
	}

	public static function concerns( string $function ): bool {
		return [] !== self::positions( $function ) || in_array( $function, self::RESULTS, true );
	}

	/** Like Rewriting::call. */
	public static function call( Rewriting $rewriting, string $function, array $arguments, WP_Parser_Node $place ): WP_Parser_Node {
		foreach ( self::positions( $function ) as $position ) {
			$argument = $arguments[ $position ] ?? null;
			if ( $argument instanceof WP_Parser_Node ) {
				$arguments[ $position ] = self::whole( $rewriting, $argument );
			}
		}
		$call = $rewriting->call( $function, $arguments, $place );
		return in_array( $function, self::RESULTS, true ) ? $rewriting->sequence( [ 'CAST(', $call, ' AS NUMERIC)' ], $place ) : $call;
	}

	/** Returns an argument that reaches the function whole. */
	public static function whole( Rewriting $rewriting, WP_Parser_Node $argument ): WP_Parser_Node {
		return self::is_small( $argument )
			? $argument
			: $rewriting->sequence( [ 'iif(typeof(', $argument, ") = 'integer', CAST(", $argument, ' AS TEXT), ', $argument, ')' ], $argument );
	}

	/** Whether it can't be a large integer, or is too long to look at its type. */
	public static function is_small( WP_Parser_Node $node ): bool {
		return Known_Results::is_short( $node ) || ! Known_Results::is_repeatable( $node );
	}
}
