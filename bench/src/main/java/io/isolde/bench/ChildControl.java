// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

/**
 * The child's end of {@link ChildProcess}: answers its parent over standard input and output, and
 * ends with it. Needs nothing but the JDK, since it also runs on class paths of others.
 */
final class ChildControl {
  static final String PROCESSOR = "processor-nanos";
  static final String COMPILER = "compiler-millis";

  /** What an answer begins with. */
  static final String ANSWER = "answer: ";

  private ChildControl() {}

  /** Answers questions from now on; what the process prints otherwise goes to the standard error. */
  static void start() {
    PrintStream answers =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    Thread thread = new Thread(() -> serve(answers), "bench-control");
    thread.setDaemon(true);
    thread.start();
  }

  private static void serve(PrintStream answers) {
    try (BufferedReader questions =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      String question;
      while ((question = questions.readLine()) != null) {
        answers.println(ANSWER + answer(question));
      }
    } catch (IOException e) {
      // The parent is gone.
    }
    Runtime.getRuntime().halt(0);
  }

  private static long answer(String question) {
    return switch (question) {
      case PROCESSOR ->
          ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
              .getProcessCpuTime();
      case COMPILER -> ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
      default -> -1;
    };
  }
}
