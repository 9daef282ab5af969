<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Dates, times and members of ENUM and SET where a number is needed: `2024-03-05 10:11:12` is 20240305101112, and a member its
 * number. SQLite takes the number at the beginning of the text, the year. A product is changed only together with one of the other
 * operators: statements are full of stars.
 */
final class Date_Numbers implements Rule {
	private const NUMBERS = [ Lexer::SIGNED_SYMBOL, Lexer::UNSIGNED_SYMBOL, Lexer::DECIMAL_SYMBOL ];

	public function nodes(): array {
		return [ 'bitExpr', 'sumExpr', 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$first = $node->get_first_child();
		$id    = $first instanceof WP_MySQL_Token ? $first->id : null;
		if ( Lexer::SUM_SYMBOL === $id || Lexer::AVG_SYMBOL === $id ) {
			$this->change( $node->get_first_child_node( 'inSumExpr' ), $rewriting );
			return null;
		}
		$type = $node->get_first_child_node( 'castType' )?->get_first_descendant_token()->id;
		if ( $this->is_operation( $node ) || Lexer::MINUS_OPERATOR === $id || in_array( $type, self::NUMBERS, true ) ) {
			$this->change( $node, $rewriting );
		}
		return null;
	}

	/** Returns a date or time as a number. The sign of a time is the only hyphen after a space, and becomes `!` meanwhile. */
	public static function number( WP_Parser_Node $time, Rewriting $rewriting ): WP_Parser_Node {
		$marked = [ "replace(' ' || (", $time, "), ' -', '!')" ];
		return $rewriting->sequence( [ '(replace(replace(replace(replace(', ...$marked, ", '-', ''), ':', ''), ' ', ''), '!', '-') + 0)" ], $time );
	}

	/** Whether it has an operator between two operands. `a + INTERVAL 1 DAY` has more children. */
	private function is_operation( WP_Parser_Node $node ): bool {
		$children = $node->get_children();
		return 'bitExpr' === $node->rule_name && 3 === count( $children ) && $children[1] instanceof WP_MySQL_Token;
	}

	private function change( ?WP_Parser_Node $parent, Rewriting $rewriting ): void {
		if ( null === $parent ) {
			return;
		}
		$children = $parent->get_children();
		foreach ( $children as $i => $child ) {
			if ( $child instanceof WP_Parser_Node ) {
				$is_time        = $rewriting->kinds->is_time( $child );
				$children[ $i ] = $is_time ? self::number( $child, $rewriting ) : Member_Numbers::of( $child, $rewriting ) ?? $child;
			}
		}
		Tree::set_children( $parent, $children );
	}
}
