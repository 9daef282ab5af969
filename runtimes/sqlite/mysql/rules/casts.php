<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** CAST and CONVERT to a type. */
final class Casts implements Rule {
	private const TEMPORAL = [
		Lexer::DATE_SYMBOL     => 'mysql_date',
		Lexer::DATETIME_SYMBOL => 'mysql_datetime',
		Lexer::TIME_SYMBOL     => 'mysql_clock',
		Lexer::YEAR_SYMBOL     => 'mysql_year',
		Lexer::JSON_SYMBOL     => 'mysql_json',
	];
	private const DECIMAL_DIGITS = 10;

	public function nodes(): array {
		return [ 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$type    = $node->get_first_child_node( 'castType' );
		$keyword = $node->get_first_child();
		if ( null === $type || ! $keyword instanceof WP_MySQL_Token ) {
			return null;
		}
		$value = $node->get_first_child_node( 'expr' );
		$name  = $type->get_first_descendant_token()->id;
		switch ( $name ) {
			case Lexer::SIGNED_SYMBOL:
				return $rewriting->sequence( $this->integer( $value, $rewriting ), $node );
			case Lexer::UNSIGNED_SYMBOL:
				return $this->unsigned( $value, $node, $rewriting );
			case Lexer::DECIMAL_SYMBOL:
				return $this->decimal( $value, $type, $node, $rewriting );
			case Lexer::CHAR_SYMBOL:
				return $this->text( $value, $type, $node, $rewriting );
			case Lexer::BINARY_SYMBOL:
				return null;
			default:
				return $this->temporal( $value, $type, $name, $node, $rewriting );
		}
	}

	private function temporal( WP_Parser_Node $value, WP_Parser_Node $type, int $name, WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( ! isset( self::TEMPORAL[ $name ] ) ) {
			return null;
		}
		$digits    = $type->get_first_descendant_token( Lexer::INT_NUMBER );
		$arguments = null === $digits ? [ $value ] : [ $value, $digits ];
		return Large_Numbers::call( $rewriting, self::TEMPORAL[ $name ], $arguments, $node );
	}

	/** SQLite cuts fractions off; MySQL does so only in texts. */
	private function integer( WP_Parser_Node $value, Rewriting $rewriting ): array {
		if ( Known_Results::is_short( $value ) || ! Known_Results::is_repeatable( $value ) ) {
			return [ 'CAST(', $value, ' AS INTEGER)' ];
		}
		return [ 'CAST(iif(typeof(', $value, ") = 'real', round(", $value, '), ', $value, ') AS INTEGER)' ];
	}

	/** The numbers below zero are those at the end of the range. */
	private function unsigned( WP_Parser_Node $value, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$integer = $this->integer( $value, $rewriting );
		$tokens  = $value->get_descendant_tokens();
		if ( ( 1 === count( $tokens ) && Lexer::INT_NUMBER === $tokens[0]->id ) || ! Known_Results::is_repeatable( $value ) ) {
			return $rewriting->sequence( $integer, $node );
		}
		return $rewriting->sequence( [ 'iif(', ...$integer, ' < 0, 18446744073709551616.0 + ', ...$integer, ', ', ...$integer, ')' ], $node );
	}

	private function decimal( WP_Parser_Node $value, WP_Parser_Node $type, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$sizes     = array_map( static fn ( $token ) => (int) $token->get_value(), $type->get_descendant_tokens( Lexer::INT_NUMBER ) );
		$fraction  = $sizes[1] ?? 0;
		$digits    = 0 === ( $sizes[0] ?? 0 ) ? self::DECIMAL_DIGITS : $sizes[0];
		$limit     = str_repeat( '9', max( 1, $digits - $fraction ) ) . '.' . ( 0 === $fraction ? '0' : str_repeat( '9', $fraction ) );
		$limit     = $digits === $fraction ? '0.' . str_repeat( '9', $fraction ) : $limit;
		$rounded   = [ "max(-$limit, min($limit, round(CAST(", $value, " AS REAL) * 1.0000000000000002, $fraction)))" ];
		return $rewriting->sequence( 0 === $fraction && $digits < 16 ? [ 'CAST(', ...$rounded, ' AS INTEGER)' ] : $rounded, $node );
	}

	private function text( WP_Parser_Node $value, WP_Parser_Node $type, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$length = $type->get_first_descendant_token( Lexer::INT_NUMBER );
		$text   = $rewriting->sequence( [ 'CAST(', Text_Forms::of( $value, $rewriting ), ' AS TEXT)' ], $node );
		return null === $length ? $text : $rewriting->call( 'substr', [ $text, '1', $length ], $node );
	}
}
