<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/**
 * Conditions that assignments change a row. MySQL counts only rows that change as affected, which plugins use for locks, and
 * sets no timestamps in others.
 */
final class Changes {
	/** Longer values are not sent twice. */
	private const MAX_LENGTH = 1000;
	/** Functions, in lower case, that give another result each time or do something. */
	private const NOT_REPEATABLE = [ 'mysql_assign(', 'mysql_rand(', 'rand', 'random_bytes', 'sleep', 'sysdate', 'uuid', 'uuid_short' ];

	/**
	 * Returns the parts of a condition that one of the columns changes.
	 *
	 * @param array<array{WP_Parser_Node|string, WP_Parser_Node|string}> $assignments Columns and their new values.
	 */
	public static function condition( array $assignments ): array {
		$parts = [];
		foreach ( $assignments as [ $column, $value ] ) {
			// Letter by letter, and as the column would keep it: `+` takes the type of another column from the value.
			array_push( $parts, 'OR', $column, 'COLLATE BINARY IS NOT +(', $value, ')' );
		}
		$parts[0] = '(';
		return [ ...$parts, ')' ];
	}

	/** Whether a value may be computed twice. */
	public static function is_repeatable( WP_Parser_Node $value ): bool {
		if ( $value->get_length() > self::MAX_LENGTH || null !== $value->get_first_descendant_node( 'subquery' ) ) {
			return false;
		}
		foreach ( $value->get_descendant_tokens() as $token ) {
			if ( in_array( strtolower( $token->get_value() ), self::NOT_REPEATABLE, true ) ) {
				return false;
			}
		}
		return true;
	}
}
