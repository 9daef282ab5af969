<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** Operators on numbers that SQLite lacks, or understands differently. */
final class Arithmetic implements Rule {
	public function nodes(): array {
		return [ 'bitExpr' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		if ( 3 !== count( $children ) || ! $children[1] instanceof WP_MySQL_Token ) {
			return null;
		}
		[ $left, $operator, $right ] = $children;
		switch ( $operator->id ) {
			case Lexer::DIV_OPERATOR:
				// SQLite divides whole numbers without a rest.
				return $rewriting->sequence( [ '(CAST(', $left, ' AS REAL) / ', $right, ')' ], $node );
			case Lexer::DIV_SYMBOL:
				return Large_Numbers::call( $rewriting, 'mysql_integer_division', [ $left, $right ], $node );
			case Lexer::MOD_OPERATOR:
			case Lexer::MOD_SYMBOL:
				return Large_Numbers::call( $rewriting, 'mysql_mod', [ $left, $right ], $node );
			case Lexer::BITWISE_XOR_OPERATOR:
				return Large_Numbers::call( $rewriting, 'mysql_bitwise_xor', [ $left, $right ], $node );
			case Lexer::BITWISE_AND_OPERATOR:
			case Lexer::BITWISE_OR_OPERATOR:
			case Lexer::SHIFT_LEFT_OPERATOR:
			case Lexer::SHIFT_RIGHT_OPERATOR:
				// All four have the same precedence in SQLite.
				return $rewriting->sequence( [ '(', ...$children, ')' ], $node );
			default:
				return null;
		}
	}
}
