// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.LongUnaryOperator;

/**
 * The child's end of {@link ChildProcess}: answers its parent over standard input and output, and
 * ends with it. Needs nothing but the JDK, since it also runs on class paths of others.
 */
public final class ChildControl {
  static final String PROCESSOR = "processor-nanos";
  static final String COMPILER = "compiler-millis";

  /** What an answer begins with. */
  static final String ANSWER = "answer: ";

  private ChildControl() {}

  /**
   * Answers questions from now on; what the process prints otherwise goes to the standard error.
   *
   * @param more questions that this child can answer beside the usual ones, given the number that
   *     follows them, or 0
   */
  public static void start(Map<String, LongUnaryOperator> more) {
    PrintStream answers =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    Thread thread = new Thread(() -> serve(answers, more), "bench-control");
    thread.setDaemon(true);
    thread.start();
  }

  private static void serve(PrintStream answers, Map<String, LongUnaryOperator> more) {
    try (BufferedReader questions =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      String question;
      while ((question = questions.readLine()) != null) {
        answers.println(ANSWER + answer(question, more));
      }
    } catch (IOException e) {
      // The parent is gone.
    } catch (RuntimeException e) {
      System.err.println("A question can't be answered: " + e); // The parent shows it.
    }
    Runtime.getRuntime().halt(0);
  }

  private static long answer(String question, Map<String, LongUnaryOperator> more) {
    return switch (question) {
      case PROCESSOR ->
          ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
              .getProcessCpuTime();
      case COMPILER -> ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
      default -> {
        int space = question.indexOf(' ');
        yield space < 0
            ? more.get(question).applyAsLong(0)
            : more.get(question.substring(0, space))
                .applyAsLong(Long.parseLong(question.substring(space + 1)));
      }
    };
  }
}
