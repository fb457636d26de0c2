import Glibc
import StrandlineBenchmarks

exit(runBench(Array(CommandLine.arguments.dropFirst())))
