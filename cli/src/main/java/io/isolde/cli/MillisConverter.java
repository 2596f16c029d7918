// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads times like {@code 10ms}, {@code 500us} or {@code 1.5s} as milliseconds. */
final class MillisConverter implements ITypeConverter<Double> {
  private static final Pattern TIME = Pattern.compile("(\\d+(?:\\.\\d+)?)(us|ms|s)");

  @Override
  public Double convert(String value) {
    Matcher time = TIME.matcher(value);
    if (!time.matches()) {
      throw new TypeConversionException("\"" + value + "\" is not a time like 10ms, 500us or 1.5s");
    }
    double amount = Double.parseDouble(time.group(1));
    return switch (time.group(2)) {
      case "us" -> amount / 1e3;
      case "s" -> amount * 1e3;
      default -> amount;
    };
  }
}
