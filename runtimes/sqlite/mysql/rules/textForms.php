<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** Values that become texts. SQLite writes 2.0 where MySQL writes 2. */
final class Text_Forms {
	/** Returns an expression that SQLite turns into MySQL's text. */
	public static function of( WP_Parser_Node $value, Rewriting $rewriting ): WP_Parser_Node {
		if ( Known_Results::is_short( $value ) || ! Known_Results::is_repeatable( $value ) ) {
			return $value;
		}
		$digits = Scales::of( $value, $rewriting );
		if ( null !== $digits && $digits > 0 ) {
			return $rewriting->sequence( [ 'iif(', $value, " IS NULL, NULL, printf('%.{$digits}f', ", $value, '))' ], $value );
		}
		$text = $rewriting->call( 'mysql_real_text', [ $value ], $value );
		return $rewriting->sequence( [ 'iif(typeof(', $value, ") = 'real', ", $text, ', ', $value, ')' ], $value );
	}

	/**
	 * Returns the values' texts one after the other, or NULL if one of them is NULL.
	 *
	 * @param WP_Parser_Node[] $values
	 */
	public static function joined( array $values, WP_Parser_Node $place, Rewriting $rewriting ): WP_Parser_Node {
		$parts = [ "(''" ];
		foreach ( $values as $value ) {
			array_push( $parts, ' || (', self::of( $value, $rewriting ), ')' );
		}
		return $rewriting->sequence( [ ...$parts, ')' ], $place );
	}
}
