<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/**
 * Columns of ENUM and SET where a number is needed, or an order: the member's number, or a number with a bit for each member of
 * SET.
 */
final class Member_Numbers {
	/** Returns the number of a column's value, or null if the node is no such column. */
	public static function of( WP_Parser_Node $value, Rewriting $rewriting ): ?WP_Parser_Node {
		$members = self::members( $value, $rewriting );
		return null === $members ? null : $rewriting->sequence( self::number( $members, $value ), $value );
	}

	/** Returns what a column is sorted by, or null if SQLite sorts it as MySQL does. */
	public static function sorting( WP_Parser_Node $value, Rewriting $rewriting ): ?WP_Parser_Node {
		$members = self::members( $value, $rewriting );
		return null === $members || $members->are_sorted() ? null : $rewriting->sequence( self::number( $members, $value ), $value );
	}

	private static function members( WP_Parser_Node $value, Rewriting $rewriting ): ?Members {
		$core = $rewriting->kinds->core( $value );
		if ( 'columnRef' !== $core->rule_name ) {
			return null;
		}
		$parts = Scope::parts( $core );
		$bits  = $rewriting->driver->columns()->names()[ strtolower( end( $parts ) ) ] ?? 0;
		return 0 === ( $bits & Columns::MEMBERS ) ? null : $rewriting->kinds->table_column( $core )?->members;
	}

	/** @return array<WP_Parser_Node|string> */
	private static function number( Members $members, WP_Parser_Node $value ): array {
		$parts = [];
		foreach ( $members->names as $position => $name ) {
			$text = str_replace( "'", "''", $name );
			array_push( $parts, ...( $members->is_set
				? [ 0 === $position ? '' : '+', "(instr(',' || ", $value, " || ',', ',$text,') > 0) * " . ( 1 << $position ) ]
				: [ "WHEN '$text' THEN " . ( $position + 1 ) ] ) );
		}
		return $members->is_set ? [ '(', ...$parts, ')' ] : [ 'iif(', $value, 'IS NULL, NULL, CASE', $value, ...$parts, 'ELSE 0 END)' ];
	}
}
