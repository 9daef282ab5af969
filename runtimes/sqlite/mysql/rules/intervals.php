<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** `time + INTERVAL 1 DAY`. */
final class Intervals implements Rule {
	public function nodes(): array {
		return [ 'bitExpr', 'simpleExprBody' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		return 'bitExpr' === $node->rule_name ? $this->operation( $node, $rewriting ) : $this->leading( $node, $rewriting );
	}

	/** `expression + INTERVAL amount unit`, any number of times. */
	private function operation( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( ! $node->has_child_token( Lexer::INTERVAL_SYMBOL ) ) {
			return null;
		}
		$children = $node->get_children();
		$parts    = [];
		for ( $i = 0, $count = count( $children ); $i < $count; $i++ ) {
			$is_interval = $children[ $i ] instanceof WP_MySQL_Token && Lexer::INTERVAL_SYMBOL === $children[ $i ]->id;
			if ( ! $is_interval ) {
				$parts[] = $children[ $i ];
				continue;
			}
			$operation = Lexer::MINUS_OPERATOR === array_pop( $parts )->id ? 'sub' : 'add';
			$moved     = $rewriting->sequence( $parts, $node );
			$parts     = [ self::moved( $operation, [ $moved, $children[ $i + 1 ], Unit::text( $children[ $i + 2 ] ) ], $node, $rewriting ) ];
			$i        += 2;
		}
		return $rewriting->sequence( $parts, $node );
	}

	/** `INTERVAL amount unit + expression`. */
	private function leading( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$first = $node->get_first_child();
		if ( ! $first instanceof WP_MySQL_Token || Lexer::INTERVAL_SYMBOL !== $first->id ) {
			return null;
		}
		[ $amount, $unit, $date ] = $node->get_child_nodes();
		return self::moved( 'add', [ $date, $amount, Unit::text( $unit ) ], $node, $rewriting );
	}

	/**
	 * Returns the call that adds an interval to a date, or to a time without a date.
	 *
	 * @param string $operation `add` or `sub`.
	 * @param array  $arguments What to add to, how much, and the unit.
	 */
	public static function moved( string $operation, array $arguments, WP_Parser_Node $place, Rewriting $rewriting ): WP_Parser_Node {
		$kind = $rewriting->kinds->is_clock( $arguments[0] ) ? 'time' : 'date';
		return Large_Numbers::call( $rewriting, "mysql_{$kind}_$operation", $arguments, $place );
	}
}
