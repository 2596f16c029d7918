// SPDX-License-Identifier: Apache-2.0
package io.isolde.study.distances;

import io.isolde.staleness.Delay;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Delays as text, like {@code 1ms + exp 200us}. */
final class DelayText {
  private static final String AMOUNT = "(\\d+(?:\\.\\d+)?)\\s*(us|ms|s)";
  private static final Pattern CONSTANT = Pattern.compile(AMOUNT);
  private static final Pattern EXPONENTIAL = Pattern.compile("exp\\s+" + AMOUNT);
  private static final Pattern UNIFORM = Pattern.compile("uniform\\s+" + AMOUNT + "\\s+" + AMOUNT);

  private DelayText() {}

  static Delay parse(String text) {
    Delay sum = Delay.NONE;
    for (String term : text.split("\\+", -1)) {
      Delay delay = term(term.strip());
      sum = sum == Delay.NONE ? delay : sum.then(delay);
    }
    return sum;
  }

  private static Delay term(String term) {
    Matcher constant = CONSTANT.matcher(term);
    if (constant.matches()) {
      return Delay.constant(micros(constant, 1));
    }
    Matcher exponential = EXPONENTIAL.matcher(term);
    if (exponential.matches()) {
      return Delay.exponential(micros(exponential, 1));
    }
    Matcher uniform = UNIFORM.matcher(term);
    if (uniform.matches()) {
      return Delay.uniform(micros(uniform, 1), micros(uniform, 3));
    }
    throw new IllegalArgumentException(
        "\"%s\" is no delay like \"1ms + exp 200us\" or \"uniform 1ms 3ms\".".formatted(term));
  }

  private static double micros(Matcher matcher, int group) {
    double amount = Double.parseDouble(matcher.group(group));
    return switch (matcher.group(group + 1)) {
      case "us" -> amount;
      case "ms" -> amount * 1e3;
      default -> amount * 1e6;
    };
  }
}
