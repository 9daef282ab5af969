<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

require_once __DIR__ . '/knownResults.php';

/**
 * Calls of functions with integers beyond 32 bits. PDO passes no more to PHP's functions for SQLite, and takes no more from
 * them. So these integers travel as texts.
 */
final class Large_Numbers {
	/** Positions of arguments that may be large integers, by function. */
	private const ARGUMENTS = [
		'bin'               => [ 0 ],
		'bit_count'         => [ 0 ],
		'conv'              => [ 0 ],
		'crc32'             => [ 0 ],
		'elt'               => [ 1, 2, 3, 4, 5 ],
		'export_set'        => [ 0 ],
		'find_in_set'       => [ 0 ],
		'from_unixtime'     => [ 0 ],
		'inet_ntoa'         => [ 0 ],
		'instr'             => [ 0, 1 ],
		'interval'          => [ 0 ],
		'locate'            => [ 0, 1 ],
		'lpad'              => [ 0 ],
		'make_set'          => [ 0 ],
		'md5'               => [ 0 ],
		'mysql_date'        => [ 0 ],
		'mysql_date_add'    => [ 0, 1 ],
		'mysql_date_format' => [ 0 ],
		'mysql_date_sub'    => [ 0, 1 ],
		'mysql_datetime'    => [ 0 ],
		'mysql_extract'     => [ 1 ],
		'mysql_field'       => [ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 ],
		'mysql_format'      => [ 0 ],
		'mysql_insert'      => [ 0 ],
		'mysql_left'        => [ 0 ],
		'mysql_mod'         => [ 0, 1 ],
		'mysql_round'       => [ 0 ],
		'mysql_truncate'    => [ 0 ],
		'oct'               => [ 0 ],
		'quote'             => [ 0 ],
		'repeat'            => [ 0 ],
		'reverse'           => [ 0 ],
		'right'             => [ 0 ],
		'rpad'              => [ 0 ],
		'sec_to_time'       => [ 0 ],
		'sha'               => [ 0 ],
		'sha1'              => [ 0 ],
		'sha2'              => [ 0 ],
		'substring_index'   => [ 0 ],
		'to_base64'         => [ 0 ],
	];

	/** Functions that may return large integers, as texts. */
	private const RESULTS = [
		'crc32'                => true,
		'inet_aton'            => true,
		'to_seconds'           => true,
		'unix_timestamp'       => true,
		'uuid_short'           => true,
		'mysql_timestamp_diff' => true,
		'last_insert_id'       => true,
		'mysql_extract'        => true,
		'mysql_round'          => true,
		'mysql_truncate'       => true,
		'mysql_mod'            => true,
	];

	public static function concerns( string $function ): bool {
		return isset( self::ARGUMENTS[ $function ] ) || isset( self::RESULTS[ $function ] );
	}

	/** Like Rewriting::call. */
	public static function call( Rewriting $rewriting, string $function, array $arguments, WP_Parser_Node $place ): WP_Parser_Node {
		foreach ( self::ARGUMENTS[ $function ] ?? [] as $position ) {
			$argument = $arguments[ $position ] ?? null;
			if ( $argument instanceof WP_Parser_Node ) {
				$arguments[ $position ] = self::whole( $rewriting, $argument );
			}
		}
		$call = $rewriting->call( $function, $arguments, $place );
		return isset( self::RESULTS[ $function ] ) ? $rewriting->sequence( [ 'CAST(', $call, ' AS NUMERIC)' ], $place ) : $call;
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
