<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Quotients and averages of whole numbers with the four digits that MySQL gives them: 5/2 is 2.5000. Only where nothing is
 * computed, compared or sorted with the result any more, because it is a text.
 */
final class Decimals implements Rule {
	/** MySQL's variable `div_precision_increment`. */
	private const MORE_DIGITS = 4;

	public function nodes(): array {
		return [ 'selectItem' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$expr = $node->get_first_child_node( 'expr' );
		if ( null === $expr || ! $this->is_final( $rewriting ) ) {
			return null;
		}
		$digits = $this->digits( $rewriting->kinds->core( $expr ), $rewriting );
		if ( null === $digits ) {
			return null;
		}
		$decimal = $rewriting->sequence( [ 'iif(', $expr, "IS NULL, NULL, printf('%.{$digits}f',", $expr, '))' ], $expr );
		Tree::set_children( $node, array_map( static fn ( $child ) => $child === $expr ? $decimal : $child, $node->get_children() ) );
		return null;
	}

	/** Whether the list of results is that of the whole statement, and nothing is sorted or selected by it. */
	private function is_final( Rewriting $rewriting ): bool {
		foreach ( $rewriting->above as $node ) {
			switch ( $node->rule_name ) {
				case 'simpleStatement':
					$is_select = $node->has_child_node( 'selectStatement' );
					break;
				case 'subquery':
				case 'commonTableExpression':
					return false;
				case 'queryExpression':
					if ( $node->has_child_node( 'orderClause' ) || count( $node->get_first_child_node( 'queryExpressionBody' )?->get_child_nodes( 'queryTerm' ) ?? [] ) !== 1 ) {
						return false;
					}
					break;
				case 'querySpecification':
					if ( $node->has_child_node( 'havingClause' ) || $node->has_child_node( 'selectOption' ) ) {
						return false;
					}
			}
		}
		return $is_select ?? false;
	}

	/** How many digits after the point the result has; null if it has none, or a floating point. */
	private function digits( WP_Parser_Node $value, Rewriting $rewriting ): ?int {
		$scale = in_array( $value->rule_name, [ 'bitExpr', 'functionCall', 'simpleExprBody', 'sumExpr' ], true ) ? $this->scale( $value, $rewriting ) : null;
		return 0 === $scale ? null : $scale;
	}

	/** How many digits after the point an exact number has; null if it is none. */
	public function scale( WP_Parser_Node $value, Rewriting $rewriting ): ?int {
		$core = $rewriting->kinds->core( $value );
		switch ( $core->rule_name ) {
			case 'numLiteral':
				$number = $core->get_first_child_token();
				return Lexer::FLOAT_NUMBER === $number->id ? null : strlen( explode( '.', $number->get_value() )[1] ?? '' );
			case 'columnRef':
				return $rewriting->kinds->table_column( $core )?->scale;
			case 'sumExpr':
				return $this->scale_of_aggregate( $core, $rewriting );
			case 'bitExpr':
				return $this->scale_of_operation( $core, $rewriting );
			case 'functionCall':
				return $this->scale_of_call( $core, $rewriting );
			case 'simpleExprBody':
				$type = $core->get_first_child_node( 'castType' );
				if ( null !== $type ) {
					return $this->scale_of_type( $type );
				}
				$sign = $core->get_first_child_token( Lexer::MINUS_OPERATOR );
				return null === $sign ? null : $this->scale( $core->get_first_child_node(), $rewriting );
			default:
				return null;
		}
	}

	private function scale_of_aggregate( WP_Parser_Node $aggregate, Rewriting $rewriting ): ?int {
		$values = $aggregate->get_first_child_node( 'inSumExpr' );
		switch ( $aggregate->get_first_descendant_token()->id ) {
			case Lexer::COUNT_SYMBOL:
				return 0;
			case Lexer::SUM_SYMBOL:
			case Lexer::MIN_SYMBOL:
			case Lexer::MAX_SYMBOL:
				return $this->scale( $values, $rewriting );
			case Lexer::AVG_SYMBOL:
				$scale = $this->scale( $values, $rewriting );
				return null === $scale ? null : $scale + self::MORE_DIGITS;
			default:
				return null;
		}
	}

	private function scale_of_call( WP_Parser_Node $call, Rewriting $rewriting ): ?int {
		[ $name, $list ] = $call->get_child_nodes() + [ null, null ];
		$arguments       = $list?->get_child_nodes() ?? [];
		$scale           = isset( $arguments[0] ) ? $this->scale( $arguments[0], $rewriting ) : null;
		if ( null === $scale ) {
			return null;
		}
		switch ( strtolower( $name->get_first_descendant_token()->get_value() ) ) {
			case 'abs':
				return $scale;
			case 'round':
			case 'truncate':
				$digits = isset( $arguments[1] ) ? $arguments[1]->get_descendant_tokens() : [];
				if ( [] === $digits ) {
					return 0;
				}
				return 1 === count( $digits ) && Lexer::INT_NUMBER === $digits[0]->id ? min( $scale, (int) $digits[0]->get_value() ) : null;
			default:
				return null;
		}
	}

	private function scale_of_type( WP_Parser_Node $type ): ?int {
		if ( Lexer::DECIMAL_SYMBOL !== $type->get_first_descendant_token()->id ) {
			return null;
		}
		$sizes = $type->get_descendant_tokens( Lexer::INT_NUMBER );
		return isset( $sizes[1] ) ? (int) $sizes[1]->get_value() : 0;
	}

	private function scale_of_operation( WP_Parser_Node $operation, Rewriting $rewriting ): ?int {
		[ $left, $operator, $right ] = $operation->get_children() + [ null, null, null ];
		if ( ! $operator instanceof WP_MySQL_Token || ! $right instanceof WP_Parser_Node ) {
			return null;
		}
		$one   = $this->scale( $left, $rewriting );
		$other = $this->scale( $right, $rewriting );
		if ( null === $one || null === $other ) {
			return null;
		}
		switch ( $operator->id ) {
			case Lexer::DIV_OPERATOR:
				return $one + self::MORE_DIGITS;
			case Lexer::MULT_OPERATOR:
				return $one + $other;
			case Lexer::PLUS_OPERATOR:
			case Lexer::MINUS_OPERATOR:
				return max( $one, $other );
			default:
				return null;
		}
	}
}
