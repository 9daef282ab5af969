<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** Finds out how many digits after the point MySQL gives an exact number, as far as the statement and its tables tell. */
final class Scales {
	/** MySQL's variable `div_precision_increment`. */
	private const MORE_DIGITS = 4;
	/** The most digits that MySQL computes. */
	private const MOST_DIGITS = 30;
	/** Functions whose result is one of their arguments. */
	private const CHOOSING = [ 'coalesce', 'greatest', 'ifnull', 'least' ];

	/** How many digits after the point an exact number has; null if it is none. */
	public static function of( WP_Parser_Node $value, Rewriting $rewriting ): ?int {
		$core = $rewriting->kinds->core( $value );
		switch ( $core->rule_name ) {
			case 'numLiteral':
				$number = $core->get_first_child_token();
				return Lexer::FLOAT_NUMBER === $number->id ? null : strlen( explode( '.', $number->get_value() )[1] ?? '' );
			case 'columnRef':
				return $rewriting->kinds->table_column( $core )?->scale;
			case 'sumExpr':
				return self::scale_of_aggregate( $core, $rewriting );
			case 'bitExpr':
				return self::scale_of_operation( $core, $rewriting );
			case 'functionCall':
				return self::scale_of_call( $core, $rewriting );
			case 'runtimeFunctionCall':
				return self::scale_of_keyword( $core, $rewriting );
			case 'simpleExprBody':
				if ( $core->has_child_token( Lexer::CASE_SYMBOL ) ) {
					return self::most( self::results_of_case( $core ), $rewriting );
				}
				$type = $core->get_first_child_node( 'castType' );
				if ( null !== $type ) {
					return self::scale_of_type( $type );
				}
				$sign = $core->get_first_child_token( Lexer::MINUS_OPERATOR );
				return null === $sign ? null : self::of( $core->get_first_child_node(), $rewriting );
			default:
				return null;
		}
	}

	/** Whether MySQL rounds it to its digits: a quotient or an average, or computed with one. */
	public static function is_rounded( WP_Parser_Node $value, Rewriting $rewriting ): bool {
		foreach ( [ $value, ...$value->get_descendant_nodes() ] as $node ) {
			$original = $rewriting->original( $node );
			if ( $original->has_child_token( Lexer::DIV_OPERATOR ) || $original->has_child_token( Lexer::AVG_SYMBOL ) ) {
				return true;
			}
		}
		return false;
	}

	private static function scale_of_aggregate( WP_Parser_Node $aggregate, Rewriting $rewriting ): ?int {
		$values = $aggregate->get_first_child_node( 'inSumExpr' );
		switch ( $aggregate->get_first_descendant_token()->id ) {
			case Lexer::COUNT_SYMBOL:
				return 0;
			case Lexer::SUM_SYMBOL:
			case Lexer::MIN_SYMBOL:
			case Lexer::MAX_SYMBOL:
				return self::of( $values, $rewriting );
			case Lexer::AVG_SYMBOL:
				$scale = self::of( $values, $rewriting );
				return null === $scale ? null : min( self::MOST_DIGITS, $scale + self::MORE_DIGITS );
			default:
				return null;
		}
	}

	private static function scale_of_call( WP_Parser_Node $call, Rewriting $rewriting ): ?int {
		[ $name, $list ] = $call->get_child_nodes() + [ null, null ];
		$arguments       = $list?->get_child_nodes() ?? [];
		$function        = strtolower( $name->get_first_descendant_token()->get_value() );
		if ( in_array( $function, self::CHOOSING, true ) ) {
			return self::most( $arguments, $rewriting );
		}
		$scale = isset( $arguments[0] ) ? self::of( $arguments[0], $rewriting ) : null;
		if ( null === $scale ) {
			return null;
		}
		switch ( $function ) {
			case 'abs':
			case 'nullif':
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

	private static function scale_of_keyword( WP_Parser_Node $call, Rewriting $rewriting ): ?int {
		switch ( $call->get_first_descendant_token()->id ) {
			case Lexer::COALESCE_SYMBOL:
				return self::most( $call->get_first_descendant_node( 'exprList' )->get_child_nodes(), $rewriting );
			case Lexer::IF_SYMBOL:
				return self::most( array_slice( $call->get_child_nodes( 'expr' ), 1 ), $rewriting );
			default:
				return null;
		}
	}

	/** @return WP_Parser_Node[] */
	private static function results_of_case( WP_Parser_Node $case ): array {
		$results = [ ...$case->get_child_nodes( 'thenExpression' ), ...$case->get_child_nodes( 'elseExpression' ) ];
		return array_map( static fn ( $result ) => $result->get_first_child_node(), $results );
	}

	/** The most digits that one of several values has; null if one of them is not exact. @param WP_Parser_Node[] $values */
	private static function most( array $values, Rewriting $rewriting ): ?int {
		$most = null;
		foreach ( $values as $value ) {
			if ( 'nullLiteral' === $rewriting->kinds->core( $value )->rule_name ) {
				continue;
			}
			$scale = self::of( $value, $rewriting );
			if ( null === $scale ) {
				return null;
			}
			$most = max( $most ?? 0, $scale );
		}
		return $most;
	}

	private static function scale_of_type( WP_Parser_Node $type ): ?int {
		if ( Lexer::DECIMAL_SYMBOL !== $type->get_first_descendant_token()->id ) {
			return null;
		}
		$sizes = $type->get_descendant_tokens( Lexer::INT_NUMBER );
		return isset( $sizes[1] ) ? (int) $sizes[1]->get_value() : 0;
	}

	private static function scale_of_operation( WP_Parser_Node $operation, Rewriting $rewriting ): ?int {
		[ $left, $operator, $right ] = $operation->get_children() + [ null, null, null ];
		if ( ! $operator instanceof WP_MySQL_Token || ! $right instanceof WP_Parser_Node ) {
			return null;
		}
		$one   = self::of( $left, $rewriting );
		$other = self::of( $right, $rewriting );
		if ( null === $one || null === $other ) {
			return null;
		}
		switch ( $operator->id ) {
			case Lexer::DIV_OPERATOR:
				return min( self::MOST_DIGITS, $one + self::MORE_DIGITS );
			case Lexer::MULT_OPERATOR:
				return min( self::MOST_DIGITS, $one + $other );
			case Lexer::MOD_OPERATOR:
			case Lexer::PLUS_OPERATOR:
			case Lexer::MINUS_OPERATOR:
				return max( $one, $other );
			default:
				return null;
		}
	}
}
